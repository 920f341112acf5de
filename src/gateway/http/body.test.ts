import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bodyFromReceived, problem } from './body.ts';

describe('body received with its head', () => {
  test('a reader applies its bound, and a second read returns the same bytes', async () => {
    const body = bodyFromReceived(Buffer.from('hello'));
    await assert.rejects(body.read(4), { code: problem.too_large.code });
    assert.equal(body.isEmpty, false);
    const bytes = await body.read(5);
    assert.equal(bytes.toString(), 'hello');
    assert.equal(await body.read(1), bytes);
  });

  test('it can be streamed, and replaced by its bytes unless something wraps the stream', async () => {
    const body = bodyFromReceived(Buffer.from('hello'));
    const chunks = await Array.fromAsync(body.stream!);
    assert.equal(Buffer.concat(chunks).toString(), 'hello');
    const wrapped = bodyFromReceived(Buffer.from('hello'));
    const { stream } = wrapped;
    wrapped.stream = { [Symbol.asyncIterator]: () => stream![Symbol.asyncIterator]() };
    assert.equal(wrapped.replaceReceived(), false);
    assert.equal(body.replaceReceived(), true);
    assert.equal(body.stream, undefined);
    assert.equal(body.bytes?.toString(), 'hello');
  });
});
