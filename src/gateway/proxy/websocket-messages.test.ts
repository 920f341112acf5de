import assert from 'node:assert/strict';
import { type Duplex, duplexPair } from 'node:stream';
import { describe, test } from 'node:test';
import type { MessageDecision } from '../pipeline/exchange.ts';
import { type GateOutput, MessageGate } from './websocket-messages.ts';
import { relayWebSocket } from './websocket-relay.ts';

const finalBit = 0x80;
const mask = Buffer.from([1, 2, 3, 4]);

/** Masked frame of a client. */
function frame(first: number, payload: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(payload).map((byte, at) => byte ^ mask[at & 3]!);
  const head =
    bytes.length < 126 ? Buffer.from([first, 0x80 | bytes.length]) : Buffer.from([first, 0xff, ...Buffer.alloc(8)]);
  if (head.length > 2) head.writeBigUInt64BE(BigInt(bytes.length), 2);
  return Buffer.concat([head, mask, bytes]);
}
const text = (payload: string) => frame(finalBit | 1, payload);

function createGate(decision: MessageDecision = 'forward', maxMessageBytes = 1_000_000) {
  const messages: string[] = [];
  const check = (message: string) => {
    messages.push(message);
    return decision;
  };
  const onDecided = () => assert.fail('the decision was not waited for');
  return { gate: new MessageGate({ maxMessageBytes, check, onDecided, onError: assert.fail }), messages };
}
const joined = ({ forward }: GateOutput) => Buffer.concat(forward);

describe('gate of WebSocket messages', () => {
  test('a fragmented message is checked as a whole and forwarded unchanged, in chunks of any size', () => {
    const parts = [frame(1, '{"type":'), frame(finalBit | 9, 'now'), frame(0, 'x'.repeat(300)), frame(finalBit, '}')];
    const bytes = Buffer.concat([...parts, text('second')]);
    for (const size of [1, 3, 64, bytes.length]) {
      const { gate, messages } = createGate();
      const forwarded: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        const output = gate.take(Buffer.from(bytes.subarray(at, at + size)));
        assert.equal(output.closeCode, undefined);
        forwarded.push(...output.forward);
      }
      const [first, ping, ...others] = parts as [Buffer, Buffer, ...Buffer[]];
      assert.deepEqual(Buffer.concat(forwarded), Buffer.concat([ping, first, ...others, text('second')]));
      assert.deepEqual(messages, [`{"type":${'x'.repeat(300)}}`, 'second']);
    }
  });

  test('a decision that is waited for holds the frames behind it, which follow in their order', async () => {
    const decisions: PromiseWithResolvers<MessageDecision>[] = [];
    const outputs: GateOutput[] = [];
    const errors: unknown[] = [];
    const gate = new MessageGate({
      maxMessageBytes: 1000,
      check() {
        decisions.push(Promise.withResolvers());
        return decisions.at(-1)!.promise;
      },
      onDecided: output => outputs.push(output),
      onError: error => errors.push(error),
    });
    const ping = frame(finalBit | 9, 'now');
    const { forward, isWaiting } = gate.take(Buffer.concat([text('one'), ping, text('two')]));
    assert.deepEqual([forward, isWaiting], [[], true]);
    assert.deepEqual(gate.take(text('three')), { forward: [], closeCode: undefined, isWaiting: true });
    assert.equal(decisions.length, 1, 'one message is checked at a time');
    decisions[0]!.resolve('forward');
    await decisions[0]!.promise;
    await new Promise(setImmediate);
    assert.deepEqual(joined(outputs[0]!), Buffer.concat([text('one'), ping]));
    assert.equal(outputs[0]!.isWaiting, true);
    decisions[1]!.resolve('drop');
    await new Promise(setImmediate);
    assert.deepEqual([outputs[1]!.forward, outputs[1]!.isWaiting], [[], true]);
    decisions[2]!.reject(new Error('counter unavailable'));
    await new Promise(setImmediate);
    assert.match(String(errors), /counter unavailable/);
    assert.deepEqual(gate.take(text('four')), { forward: [], closeCode: undefined, isWaiting: false });
  });

  test('a message of very many frames closes with 1009 and does not throw', () => {
    const { gate, messages } = createGate();
    const many = Array.from({ length: 150_000 }, () => frame(0));
    const { forward, closeCode } = gate.take(Buffer.concat([frame(1, '{"type":"ping"}'), ...many, frame(finalBit)]));
    assert.deepEqual([forward, closeCode, messages], [[], 1009, []]);
  });

  test('a message of 1000 frames is forwarded', () => {
    const { gate, messages } = createGate();
    const bytes = Buffer.concat([frame(1, 'a'), ...Array.from({ length: 998 }, () => frame(0)), frame(finalBit, 'b')]);
    assert.deepEqual(joined(gate.take(bytes)), bytes);
    assert.deepEqual(messages, ['ab']);
  });

  test('headers of frames count as bytes of a message', () => {
    const { gate } = createGate('forward', 100);
    assert.equal(gate.take(frame(1, 'a')).closeCode, undefined);
    for (let bytes = 7; bytes + 6 <= 100; bytes += 6) assert.equal(gate.take(frame(0)).closeCode, undefined);
    assert.equal(gate.take(frame(0)).closeCode, 1009);
  });

  test('nothing is forwarded after a close code', () => {
    const { gate, messages } = createGate();
    assert.equal(gate.take(frame(finalBit | 2, 'binary')).closeCode, 1003);
    assert.deepEqual([gate.take(text('late')).forward, messages], [[], []]);
  });

  test('a text message that is not UTF-8 closes with 1007', () => {
    const { gate, messages } = createGate();
    const { forward, closeCode } = gate.take(frame(finalBit | 1, Buffer.from([0x22, 0xff, 0x22])));
    assert.deepEqual([forward, closeCode, messages], [[], 1007, []]);
  });

  test('a large frame in small chunks is copied a bounded number of times', t => {
    const { gate, messages } = createGate('forward', 20_000_000);
    const bytes = text('y'.repeat(10_000_000));
    const { concat } = Buffer;
    const { copy } = Buffer.prototype;
    let copied = 0;
    t.mock.method(Buffer, 'concat', (...args: Parameters<typeof concat>) => {
      const all = concat(...args);
      copied += all.length;
      return all;
    });
    t.mock.method(Buffer.prototype, 'copy', function (this: Buffer, ...args: Parameters<typeof copy>) {
      const count = copy.apply(this, args);
      copied += count;
      return count;
    });
    for (let at = 0; at < bytes.length; at += 100_000) gate.take(bytes.subarray(at, at + 100_000));
    assert.equal(messages[0]?.length, 10_000_000);
    assert.ok(copied > bytes.length && copied < 5 * bytes.length, `${copied} bytes were copied`);
  });
});

describe('WebSocket relay with a message check', () => {
  test('a check that throws closes both sides with 1011 and is reported', async () => {
    const [client, clientEnd] = duplexPair();
    const [upstream, upstreamEnd] = duplexPair();
    const errors: unknown[] = [];
    const fault = new RangeError('too many arguments');
    const check = () => {
      throw fault;
    };
    relayWebSocket(clientEnd, upstreamEnd as never, {
      closeTimeoutMs: 50,
      messageCheck: { maxMessageBytes: 1000, check },
      onMessageError: error => void errors.push(error),
      onEnd: () => undefined,
    });
    client.write(text('a'));
    client.write(text('b'));
    const [toClient, toUpstream] = await Promise.all([collect(client), collect(upstream)]);
    assert.deepEqual(toClient, Buffer.from([0x88, 2, 1011 >> 8, 1011 & 0xff]));
    const closeMask = toUpstream.subarray(2, 6);
    assert.deepEqual(
      [toUpstream.length, toUpstream[0], (toUpstream[6]! ^ closeMask[0]!) * 256 + (toUpstream[7]! ^ closeMask[1]!)],
      [8, 0x88, 1011],
    );
    assert.deepEqual(errors, [fault]);
  });
});

/** Bytes until the other end closes. */
async function collect(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', chunk => chunks.push(chunk));
  await new Promise(resolve => stream.once('close', resolve).once('end', resolve));
  return Buffer.concat(chunks);
}
