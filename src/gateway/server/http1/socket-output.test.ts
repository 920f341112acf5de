import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { type TimeoutEntry, TimeoutQueue } from '#base/timeout-queue.ts';
import { openSocketPair } from '../../../../tests/support/socket-pair.ts';
import { eventually } from '../../../../tests/support/upstream.ts';
import type { ConnectionTimeouts } from './connection-timeout.ts';
import { SocketOutput } from './socket-output.ts';
import { WriteBuffers } from './write-buffers.ts';

const maxJoinedBytes = 16_384;

type Written = 'text' | 'bytes' | 'vector';

/** Records what the stream hands to the system, one entry per call. */
function recordWrites(socket: Socket): Written[] {
  const written: Written[] = [];
  const { _write: write, _writev: writeVector } = socket;
  socket._write = (chunk, encoding, done) => {
    written.push(typeof chunk === 'string' ? 'text' : 'bytes');
    write.call(socket, chunk, encoding, done);
  };
  socket._writev = (chunks, done) => {
    written.push('vector');
    writeVector!.call(socket, chunks, done);
  };
  return written;
}

async function openOutput(t: TestContext, writeTimeoutMs = 60_000) {
  const { client, server } = await openSocketPair(t);
  const queue = new TimeoutQueue(writeTimeoutMs);
  const writeBuffers = new WriteBuffers();
  const drains = { count: 0 };
  const timeouts = { write: queue } as ConnectionTimeouts;
  const output = new SocketOutput(server, { timeouts, writeBuffers }, () => drains.count++);
  return { client, server, queue, writeBuffers, drains, output };
}

/** Writes until bytes wait for the client, which reads nothing. */
function block(output: SocketOutput): void {
  while (output.write('', Buffer.alloc(1_000_000), '', false) || !output.isBlocked);
}

describe('output of a client connection', () => {
  const fill = (length: number) => Buffer.from(Array.from({ length }, (_none, at) => at % 256));
  const head = 'caf\xe9\r\n';
  for (const [name, before, chunk, after, isShared, written] of [
    ['text', head, undefined, '', false, ['text']],
    ['text on both sides of no bytes', head, undefined, '\r\n', false, ['text']],
    ['text behind no bytes', '', undefined, '\r\n', false, ['text']],
    ['nothing', '', undefined, '', false, []],
    ['shared nothing', '', undefined, '', true, []],
    ['bytes', '', fill(300), '', false, ['bytes']],
    ['a view of bytes', head, new Uint8Array(fill(300).buffer.slice(0, 300)).subarray(7, 200), '', false, ['text']],
    ['shared bytes', '', fill(300), '', true, ['text']],
    ['text and bytes', head, fill(300), '', false, ['text']],
    ['bytes and text', '', fill(300), '\r\n', false, ['text']],
    ['bytes and text up to the bound', head, fill(maxJoinedBytes - 8), '\r\n', false, ['text']],
    ['shared bytes and text up to the bound', head, fill(maxJoinedBytes - 8), '\r\n', true, ['text']],
    ['bytes and text beyond the bound', head, fill(maxJoinedBytes - 7), '\r\n', false, ['vector']],
    ['shared bytes and text beyond the bound', head, fill(maxJoinedBytes - 7), '\r\n', true, ['bytes']],
    ['large bytes', '', fill(50_000), '', false, ['bytes']],
    ['large bytes and text', '', fill(50_000), '\r\n', false, ['vector']],
    ['text and large bytes', head, fill(50_000), '', false, ['vector']],
    ['shared large bytes', '', fill(50_000), '', true, ['bytes']],
  ] as const)
    test(`a write of ${name} arrives in order, with ${written.length === 0 ? 'no' : 'one'} system call`, async t => {
      const { client, server, output } = await openOutput(t);
      const writes = recordWrites(server);
      const chunks: Buffer[] = [];
      client.on('data', (part: Buffer) => chunks.push(part));
      assert.equal(output.write(before, chunk, after, isShared), true);
      server.end();
      await once(client, 'end');
      const text = before + Buffer.from(chunk ?? []).toString('latin1') + after;
      assert.equal(Buffer.concat(chunks).toString('latin1'), text);
      assert.deepEqual(writes, written);
    });

  test('shared bytes may be overwritten after the call', async t => {
    for (const length of [1000, 50_000]) {
      const { client, output } = await openOutput(t);
      const chunk = Buffer.alloc(length, 'a');
      output.write('', chunk, '', true);
      chunk.fill('b');
      let received = '';
      client.on('data', (part: Buffer) => {
        received += part;
      });
      await eventually(() => assert.equal(received.length, length));
      assert.equal(received, 'a'.repeat(length));
    }
  });

  test('the buffer of shared bytes is used again when they are sent', async t => {
    const { client, server, output, writeBuffers } = await openOutput(t);
    client.resume();
    let used: Buffer | undefined;
    const { _write: write } = server;
    server._write = (chunk, encoding, done) => {
      used = chunk;
      write.call(server, chunk, encoding, done);
    };
    output.write('', Buffer.alloc(50_000), '', true);
    await eventually(() => assert.equal(writeBuffers.join('', Buffer.alloc(1), '').buffer, used!.buffer));
  });

  test('the buffer of shared bytes that could not be sent is not used again', async t => {
    const { client, server, output, writeBuffers } = await openOutput(t);
    client.pause();
    block(output);
    const waiting = new Set<ArrayBufferLike>();
    const { join } = writeBuffers;
    writeBuffers.join = (...parts) => {
      const buffer = join.apply(writeBuffers, parts);
      waiting.add(buffer.buffer);
      return buffer;
    };
    assert.equal(output.write('', Buffer.alloc(50_000), '', true), false);
    assert.equal(waiting.size, 1);
    server.destroy();
    await once(server, 'close');
    assert.equal(waiting.has(join.call(writeBuffers, '', Buffer.alloc(1), '').buffer), false);
  });

  test('writes to a connection that has ended or was destroyed are ignored', async t => {
    for (const finish of ['end', 'destroy'] as const) {
      const { server, output, queue } = await openOutput(t);
      const errors: Error[] = [];
      server.on('error', error => errors.push(error));
      server[finish]();
      assert.equal(output.write('', Buffer.from('late'), '', false), true);
      await new Promise(setImmediate);
      assert.deepEqual([errors, queue.size], [[], 0]);
    }
  });

  test('it is blocked while more than the high-water mark waits for the client', async t => {
    const { client, server, output } = await openOutput(t);
    assert.equal(output.isBlocked, false);
    // The system takes all of it, although it is beyond the mark of the stream.
    assert.equal(output.write('head', Buffer.alloc(100_000), '', false), false);
    assert.deepEqual([server.writableLength, server.writableNeedDrain, output.isBlocked], [0, true, false]);
    client.pause();
    await once(server, 'drain');
    while (server.writableLength === 0) {
      output.write('', Buffer.alloc(16_384), '', false);
      await new Promise(setImmediate);
    }
    assert.deepEqual([server.writableNeedDrain, output.isBlocked], [false, false]);
    block(output);
    assert.ok(server.writableLength > 0 && output.isBlocked);
  });

  test('a drain is reported once, and ends the write timeout', async t => {
    const { client, output, drains, queue } = await openOutput(t);
    client.pause();
    block(output);
    assert.equal(output.write('', Buffer.alloc(1000), '', false), false);
    assert.deepEqual([drains.count, queue.size], [0, 1]);
    client.resume();
    await eventually(() => assert.ok(drains.count > 0));
    assert.deepEqual([drains.count, queue.size], [1, 0]);
  });

  test('released, it has no timeout and reports no drain', async t => {
    const { client, server, output, drains, queue } = await openOutput(t);
    client.pause();
    block(output);
    output.release();
    assert.equal(queue.size, 0);
    client.resume();
    await once(server, 'drain');
    assert.equal(drains.count, 0);
  });

  test('a closed connection has no write timeout', async t => {
    const { client, server, output, queue } = await openOutput(t);
    client.pause();
    block(output);
    assert.equal(queue.size, 1);
    server.destroy();
    await once(server, 'close');
    assert.equal(queue.size, 0);
  });

  test('a client that reads nothing is disconnected after the write timeout', async t => {
    const { client, server, output } = await openOutput(t, 50);
    client.pause();
    block(output);
    await once(server, 'close');
  });

  test('a client that reads a part of one large write before the timeout stays connected', async t => {
    const { client, server, output, queue } = await openOutput(t);
    const countQueued = () => (server as unknown as { _handle: { writeQueueSize: number } })._handle.writeQueueSize;
    let entry: TimeoutEntry | undefined;
    const { start } = queue;
    queue.start = started => {
      entry = started;
      start.call(queue, started);
    };
    client.pause();
    assert.equal(output.write('', Buffer.alloc(64_000_000), '', false), false);
    const before = countQueued();
    const { writableLength } = server;
    client.resume();
    await eventually(() => assert.ok(countQueued() < before));
    client.pause();
    assert.equal(server.writableLength, writableLength);
    entry!.onTimeout();
    assert.equal(server.destroyed, false);
    // Expired again in the same turn: nothing was read meanwhile.
    entry!.onTimeout();
    assert.equal(server.destroyed, true);
  });
});
