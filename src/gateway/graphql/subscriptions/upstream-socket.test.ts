import assert from 'node:assert/strict';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { describe, test } from 'node:test';
import { toFrame } from '../../proxy/websocket-frames.ts';
import { readSocketEvents } from './upstream-socket.ts';

const message = (value: object) => toFrame(1, Buffer.from(JSON.stringify(value)), false);
const acknowledgement = message({ type: 'connection_ack' });
const event = message({ id: '1', type: 'next', payload: { data: {} } });

function openEvents(operation: unknown, closeTimeoutMs: number, pingIntervalMs = 0) {
  const [ours, theirs] = duplexPair();
  const events = readSocketEvents(ours, {
    ...{ sourceName: 'orders', protocol: 'graphql-transport-ws', operation, signal: new AbortController().signal },
    ...{ maxMessageBytes: 1000, maxValues: 100, timeoutMs: 60_000, closeTimeoutMs, pingIntervalMs },
  });
  return { ours, theirs, events };
}

describe('WebSocket to a GraphQL source', () => {
  test('a source that acknowledges the connection twice is an error', async () => {
    const { theirs, events } = openEvents({}, 1);
    theirs.resume();
    theirs.write(Buffer.concat([acknowledgement, acknowledgement]));
    await assert.rejects(events.next(), { message: 'the data source orders acknowledged the connection twice' });
  });

  test('a source that pings and does not read is disconnected', async () => {
    const { theirs, events } = openEvents({ query: 'x'.repeat(1_100_000) }, 1);
    theirs.write(Buffer.concat([acknowledgement, message({ type: 'ping' })]));
    await assert.rejects(events.next(), { message: 'the data source orders closed the connection (1008)' });
  });

  test('a reader that stops while events wait ends the connection with the Close frame of the source', async () => {
    const { ours, theirs, events } = openEvents({}, 60_000);
    theirs.resume();
    theirs.write(Buffer.concat([acknowledgement, event, event]));
    assert.deepEqual((await events.next()).value, { data: {} });
    const closed = once(ours, 'close');
    await events.return();
    for (let at = 0; at < 100; at++) theirs.write(event);
    theirs.write(toFrame(8, Buffer.from([0x03, 0xe8]), false));
    await closed;
  });

  /** Frames of a client are masked: 0x89 0x80, and four bytes of the mask. */
  const isPing = (bytes: Buffer) => bytes.includes(Buffer.from([0x89, 0x80]));

  test('a source that sends nothing after a Ping frame is an error', async () => {
    const { theirs, events } = openEvents({}, 1, 20);
    const received: Buffer[] = [];
    theirs.on('data', (bytes: Buffer) => received.push(bytes));
    theirs.write(acknowledgement);
    await assert.rejects(events.next(), /^Error: the data source orders (?:failed|closed the connection)/);
    assert.ok(isPing(Buffer.concat(received)));
  });

  test('a source that replies to Ping frames stays subscribed', async () => {
    const { theirs, events } = openEvents({}, 1, 20);
    const pong = toFrame(10, Buffer.alloc(0), false);
    let pings = 0;
    theirs.on('data', (bytes: Buffer) => {
      if (!isPing(bytes)) return;
      pings += 1;
      theirs.write(pings < 5 ? pong : event);
    });
    theirs.write(acknowledgement);
    assert.deepEqual((await events.next()).value, { data: {} });
    assert.equal(pings, 5);
    await events.return();
  });
});
