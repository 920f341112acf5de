import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestBody } from './request-body.ts';

const source = { onBodyRead: () => undefined, onBodyDrain: () => undefined };
const limits = { maxHeaderBytes: 8192, maxHeaders: 50 };

async function readAll(body: RequestBody): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return chunks;
}

test('the chunks of one read are buffered as one, without the memory of the read', async () => {
  const body = new RequestBody(source, undefined, limits);
  const text = Array.from({ length: 10_000 }, (_, n) => `1\r\n${n % 10}\r\n`).join('');
  const bytes = Buffer.from(`${text}0\r\n\r\nGET / HTTP/1.1`);
  const end = body.receive(bytes, 0);
  assert.equal(bytes.subarray(end).toString(), 'GET / HTTP/1.1');
  const chunks = await readAll(body);
  assert.equal(chunks.length, 1);
  assert.equal(Buffer.from(chunks[0]!).toString(), '0123456789'.repeat(1000));
  assert.notEqual(chunks[0]!.buffer, bytes.buffer);
});

test('large chunks keep their bytes and order', async () => {
  const body = new RequestBody(source, undefined, limits);
  const [one, other] = ['a'.repeat(5000), 'b'.repeat(3000)];
  body.receive(Buffer.from(`1388\r\n${one}\r\nbb8\r\n${other}\r\n0\r\n\r\n`), 0);
  assert.equal(Buffer.concat(await readAll(body)).toString(), one + other);
});

test('one-byte reads count with the memory they take', () => {
  const body = new RequestBody(source, 1000, limits);
  for (let n = 0; n < 300; n++) body.receive(Buffer.from('x'), 0);
  assert.ok(body.bufferedBytes > 65_536);
});

test('a failure rejects the reader of a body in progress after what has arrived, and leaves a complete one as it is', async () => {
  const failure = new Error('disconnected');
  const partial = new RequestBody(source, 4, limits);
  partial.receive(Buffer.from('ab'), 0);
  partial.fail(failure);
  assert.equal(Buffer.from((await partial.next()).value!).toString(), 'ab');
  await assert.rejects(partial.next(), failure);
  const waiting = new RequestBody(source, 4, limits);
  const part = waiting.next();
  waiting.fail(failure);
  await assert.rejects(part, failure);
  const complete = new RequestBody(source, 2, limits);
  complete.receive(Buffer.from('ab'), 0);
  complete.fail(failure);
  assert.equal(Buffer.concat(await readAll(complete)).toString(), 'ab');
});
