import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FrameTracker, toCloseFrame } from './websocket-frames.ts';

/** A frame with a payload of so many bytes. */
function frame(opcode: number, length: number, isMasked: boolean): Buffer {
  const mask = isMasked ? 0x80 : 0;
  const head =
    length < 126
      ? Buffer.from([0x80 | opcode, mask | length])
      : length < 65_536
        ? Buffer.from([0x80 | opcode, mask | 126, length >> 8, length & 0xff])
        : Buffer.from([0x80 | opcode, mask | 127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 0xff, length & 0xff]);
  return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0, 7), Buffer.alloc(length, 0x88)]);
}

describe('WebSocket frames', () => {
  for (const length of [0, 1, 125, 126, 300, 65_535, 65_536, 70_000])
    for (const isMasked of [false, true])
      test(`the end of a frame of ${length} bytes${isMasked ? ', masked,' : ''} is found in chunks of any size`, () => {
        const one = frame(2, length, isMasked);
        for (const size of [1, 7, 4096, one.length + 3]) {
          const frames = new FrameTracker();
          const bytes = Buffer.concat([one, Buffer.from([0x81])]);
          let taken = 0;
          for (let at = 0; at < bytes.length && taken === at; at += size) {
            const chunk = bytes.subarray(at, at + size);
            taken += frames.take(chunk, true);
            if (frames.isBetweenFrames) break;
          }
          assert.deepEqual([taken, frames.isBetweenFrames, frames.hasClose], [one.length, true, false]);
          frames.take(Buffer.from([0x81]));
          assert.equal(frames.isBetweenFrames, false);
        }
      });

  test('a Close frame is detected, also our own', () => {
    for (const isClient of [false, true]) {
      const bytes = toCloseFrame(1001, isClient);
      const frames = new FrameTracker();
      frames.take(bytes);
      assert.deepEqual([frames.hasClose, frames.isBetweenFrames], [true, true]);
      const payload = bytes.subarray(isClient ? 6 : 2).map((byte, at) => byte ^ (isClient ? bytes[2 + at]! : 0));
      assert.equal((payload[0]! << 8) | payload[1]!, 1001);
    }
  });
});
