import assert from 'node:assert/strict';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { describe, test } from 'node:test';
import { toFrame } from './websocket-frames.ts';
import { WebSocketPeer, type WebSocketPeerOptions } from './websocket-peer.ts';

type Handlers = Partial<WebSocketPeerOptions>;

function openPeer(more: Handlers = {}) {
  const [ours, theirs] = duplexPair();
  const messages: string[] = [];
  const { promise: closed, resolve } = Promise.withResolvers<number>();
  const peer = new WebSocketPeer(ours, {
    ...{ isClient: false, maxMessageBytes: 1000, closeTimeoutMs: 60_000 },
    onMessage: text => void messages.push(text),
    onError: error => assert.fail(error as Error),
    onClose: resolve,
    ...more,
  });
  return { peer, theirs, messages, closed };
}
const masked = (opcode: number, text: string) => toFrame(opcode, Buffer.from(text), true);
const readFirst = async (stream: ReturnType<typeof duplexPair>[0]) => ((await once(stream, 'data')) as [Buffer])[0];

describe('end of a WebSocket', () => {
  test('messages of several frames and lengths are read, whatever the chunks', async () => {
    const { theirs, messages } = openPeer({ maxMessageBytes: 100_000 });
    const long = 'x'.repeat(70_000);
    const parts = [masked(1, 'one'), masked(1, 'y'.repeat(300)), masked(1, long)];
    const first = masked(1, 'tw');
    first[0] = 0x01;
    const bytes = Buffer.concat([first, masked(9, 'ping'), masked(0, 'o'), ...parts]);
    for (let at = 0; at < bytes.length; at += 777) theirs.write(bytes.subarray(at, at + 777));
    assert.equal((await readFirst(theirs)).toString('latin1'), '\x8a\x04ping');
    while (messages.length < 4) await new Promise(setImmediate);
    assert.deepEqual(messages, ['two', 'one', 'y'.repeat(300), long]);
  });

  const violations: Readonly<Record<string, readonly [number, Buffer]>> = {
    'a frame that is not masked': [1002, toFrame(1, Buffer.from('a'), false)],
    'a binary message': [1003, masked(2, 'a')],
    'a continuation of nothing': [1002, masked(0, 'a')],
    'text that is not UTF-8': [1007, toFrame(1, Buffer.from([0xff]), true)],
    'a message beyond the bound': [1009, masked(1, 'x'.repeat(1000))],
    'a long control frame': [1002, masked(9, 'x'.repeat(126))],
  };
  for (const [about, [code, frame]] of Object.entries(violations))
    test(`${about} closes the connection with ${code}`, async () => {
      const { theirs, messages } = openPeer();
      theirs.write(frame);
      const close = await readFirst(theirs);
      assert.deepEqual([close[0], close.readUInt16BE(2)], [0x88, code]);
      assert.deepEqual(messages, []);
    });

  test('a Close frame is answered, and its code reported', async () => {
    const { theirs, closed } = openPeer();
    theirs.write(toFrame(8, Buffer.from([0x0f, 0xa0]), true));
    const answer = await readFirst(theirs);
    assert.equal(answer.readUInt16BE(2), 4000);
    assert.equal(await closed, 4000);
  });

  test('backpressure: the next message waits until the one before is handled', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const started: string[] = [];
    const { theirs } = openPeer({
      onMessage(text) {
        started.push(text);
        return promise;
      },
    });
    theirs.write(Buffer.concat([masked(1, 'a'), masked(1, 'b')]));
    while (started.length < 1) await new Promise(setImmediate);
    assert.deepEqual(started, ['a']);
    resolve();
    while (started.length < 2) await new Promise(setImmediate);
    assert.deepEqual(started, ['a', 'b']);
  });

  test('answers that the other end causes and does not read close the connection', async () => {
    const { peer, closed, theirs } = openPeer();
    for (let at = 0; at < 1100; at++) peer.reply('x'.repeat(1000));
    theirs.destroy();
    peer.destroy();
    assert.equal(await closed, 1008);
  });

  test('a failed handler closes the connection with 1011', async () => {
    const errors: unknown[] = [];
    const { theirs } = openPeer({
      onMessage: () => Promise.reject(new Error('broken')),
      onError: error => errors.push(error),
    });
    theirs.write(masked(1, 'a'));
    assert.equal((await readFirst(theirs)).readUInt16BE(2), 1011);
    assert.equal((errors[0] as Error).message, 'broken');
  });

  test('a connection that is closed while a message is handled ends with the Close frame of the other end', async () => {
    const { promise: handled } = Promise.withResolvers<void>();
    const started: string[] = [];
    const { peer, theirs, closed } = openPeer({
      onMessage(text) {
        started.push(text);
        return handled;
      },
    });
    theirs.resume();
    theirs.write(Buffer.concat([masked(1, 'a'), masked(1, 'b')]));
    while (started.length < 1) await new Promise(setImmediate);
    peer.close(4000);
    for (let at = 0; at < 100; at++) theirs.write(masked(1, 'x'.repeat(900)));
    theirs.write(toFrame(8, Buffer.from([0x03, 0xe8]), true));
    assert.equal(await closed, 4000);
    assert.deepEqual(started, ['a']);
  });

  test('a Close frame that waits behind a message ends a connection that is closed meanwhile', async () => {
    const { promise: handled } = Promise.withResolvers<void>();
    let started = 0;
    const { peer, theirs, closed } = openPeer({
      onMessage() {
        started++;
        return handled;
      },
    });
    theirs.resume();
    theirs.write(Buffer.concat([masked(1, 'a'), toFrame(8, Buffer.from([0x03, 0xe8]), true)]));
    while (started < 1) await new Promise(setImmediate);
    peer.close(4000);
    assert.equal(await closed, 4000);
  });

  test('a violation ends the connection, and the bytes after it are not read', async () => {
    const { theirs, messages, closed } = openPeer();
    theirs.write(masked(1, 'x'.repeat(1000)));
    theirs.write(masked(1, 'later'));
    theirs.resume();
    await once(theirs, 'end');
    theirs.end(masked(1, 'last'));
    assert.equal(await closed, 1009);
    assert.deepEqual(messages, []);
  });

  test('the bytes of sent messages are counted in UTF-8, those after close are not', async () => {
    const { peer } = openPeer();
    assert.equal(peer.isOpen, true);
    peer.send('é€');
    peer.reply('a');
    peer.close();
    peer.send('late');
    assert.deepEqual([peer.isOpen, peer.sentBytes], [false, 6]);
    peer.destroy();
  });
});
