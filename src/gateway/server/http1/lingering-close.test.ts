import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { openSocketPair } from '../../../../tests/support/socket-pair.ts';
import { LingeringClose } from './lingering-close.ts';
import { RequestBody } from './request-body.ts';

const source = { onBodyRead: () => undefined, onBodyDrain: () => undefined };
const limits = { maxHeaderBytes: 8192, maxHeaders: 50 };
const maxLingerBytes = 33_554_432;

describe('lingering close', () => {
  test('the writing side is closed, and the reader of the body ends', async t => {
    const { client, server } = await openSocketPair(t);
    const body = new RequestBody(source, 10, limits);
    const part = body.next();
    new LingeringClose(server, body);
    client.resume();
    await once(client, 'end');
    assert.equal(server.destroyed, false);
    assert.deepEqual(await part, { done: true, value: undefined });
  });

  test('it is complete at the end of the body', async t => {
    const { server } = await openSocketPair(t);
    const lingering = new LingeringClose(server, new RequestBody(source, 10, limits));
    assert.equal(lingering.discard(Buffer.alloc(9)), 'incomplete');
    assert.equal(lingering.discard(Buffer.alloc(1)), 'complete');
  });

  test('without a body it is never complete', async t => {
    const { server } = await openSocketPair(t);
    assert.equal(new LingeringClose(server, undefined).discard(Buffer.alloc(9)), 'incomplete');
  });

  test('it is exceeded beyond 1 MiB, of all reads together', async t => {
    const { server } = await openSocketPair(t);
    const lingering = new LingeringClose(server, undefined);
    assert.equal(lingering.discard(Buffer.alloc(maxLingerBytes - 1)), 'incomplete');
    assert.equal(lingering.discard(Buffer.alloc(1)), 'incomplete');
    assert.equal(lingering.discard(Buffer.alloc(1)), 'exceeded');
  });
});
