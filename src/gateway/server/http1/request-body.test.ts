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

test('parts that arrive go to the waiting reader, else into the buffer, whose bytes are counted', async () => {
  const body = new RequestBody(source, 4, limits);
  assert.deepEqual([body.bufferedBytes, body.isComplete, body.isAbandoned], [0, false, false]);
  const first = body.next();
  for (const byte of ['a', 'b', 'c']) body.receive(Buffer.from(byte), 0);
  assert.deepEqual(await first, { done: false, value: Buffer.from('a') });
  assert.equal(body.bufferedBytes, 2 * (1 + 256));
  assert.deepEqual(await body.next(), { done: false, value: Buffer.from('b') });
  assert.equal(body.bufferedBytes, 1 + 256);
  assert.deepEqual(await body.next(), { done: false, value: Buffer.from('c') });
  assert.deepEqual([body.bufferedBytes, body.isComplete], [0, false]);
  const last = body.next();
  body.receive(Buffer.from('d'), 0);
  assert.equal(body.isComplete, true);
  assert.deepEqual(await last, { done: false, value: Buffer.from('d') });
  assert.deepEqual(await body.next(), { done: true, value: undefined });
});

test('a body with a length ends at it, whatever comes before and after it in the read', async () => {
  const body = new RequestBody(source, 3, limits);
  assert.equal(body.receive(Buffer.from('headab'), 4), 6);
  assert.equal(body.isComplete, false);
  assert.equal(body.receive(Buffer.from('cGET'), 0), 1);
  assert.equal(body.isComplete, true);
  assert.equal(Buffer.concat(await readAll(body)).toString(), 'abc');
});

test('a whole read and a half of one are handed on without a copy, less is copied', async () => {
  for (const [start, isCopied] of [
    [0, false],
    [10_000, false],
    [10_001, true],
  ] as const) {
    const bytes = Buffer.alloc(20_000);
    const body = new RequestBody(source, bytes.length - start, limits);
    body.receive(bytes, start);
    const { value } = await body.next();
    assert.equal(value!.length, bytes.length - start);
    assert.equal(value!.buffer !== bytes.buffer, isCopied);
    if (start === 0) assert.equal(value, bytes);
  }
});

test('the last chunk ends the waiting reader', async () => {
  const body = new RequestBody(source, undefined, limits);
  body.receive(Buffer.from('1\r\na\r\n'), 0);
  assert.equal(Buffer.from((await body.next()).value!).toString(), 'a');
  const last = body.next();
  body.receive(Buffer.from('0\r\n'), 0);
  assert.equal(body.isComplete, false);
  assert.equal(body.receive(Buffer.from('\r\nGET'), 0), 2);
  assert.deepEqual([body.isComplete, await last], [true, { done: true, value: undefined }]);
});

test('the first demand is reported once, and not for a complete body; the drain with the last buffered part', async () => {
  const events: string[] = [];
  const recorded = { onBodyRead: () => events.push('read'), onBodyDrain: () => events.push('drain') };
  const body = new RequestBody(recorded, 4, limits);
  body.receive(Buffer.from('a'), 0);
  body.receive(Buffer.from('b'), 0);
  assert.deepEqual(events, []);
  await body.next();
  assert.deepEqual(events, ['read']);
  await body.next();
  assert.deepEqual(events, ['read', 'drain']);
  const third = body.next();
  body.receive(Buffer.from('cd'), 0);
  await third;
  await body.next();
  assert.deepEqual(events, ['read', 'drain']);
  const complete = new RequestBody(recorded, 1, limits);
  complete.receive(Buffer.from('a'), 0);
  await complete.next();
  assert.deepEqual(events, ['read', 'drain', 'drain']);
});

test('a reader that returns ends a read in progress and frees the buffer, and later bytes are discarded', async () => {
  const body = new RequestBody(source, 9, limits);
  const part = body.next();
  assert.deepEqual(await body.return(), { done: true, value: undefined });
  assert.deepEqual(await part, { done: true, value: undefined });
  body.receive(Buffer.from('abc'), 0);
  assert.deepEqual([body.isAbandoned, body.bufferedBytes], [true, 0]);
  assert.deepEqual(await body.next(), { done: true, value: undefined });
  const buffered = new RequestBody(source, 9, limits);
  buffered.receive(Buffer.from('abc'), 0);
  await buffered.return();
  assert.equal(buffered.bufferedBytes, 0);
  assert.deepEqual(await buffered.next(), { done: true, value: undefined });
});

test('discarded bytes end the body; those of an invalid one never do', () => {
  const body = new RequestBody(source, undefined, limits);
  assert.equal(body.discard(Buffer.from('1\r\na\r\n')), false);
  assert.equal(body.discard(Buffer.from('0\r\n\r\n')), true);
  const invalid = new RequestBody(source, undefined, limits);
  for (const bytes of ['ZZ\r\n', '0\r\n\r\n', '\r\n0\r\n\r\n'])
    assert.equal(invalid.discard(Buffer.from(bytes)), false);
});
