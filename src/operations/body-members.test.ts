import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { z } from 'zod';
import { addWarnings, checkBody } from './body-members.ts';

const schema = z.strictObject({
  name: z.string(),
  rate: z.int().optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
});

test('unknown members and wrong values are reported together, each once', () => {
  assert.throws(() => checkBody({ body: schema }, { rte: 1, rate: 'x' }, 'refuse'), {
    message: 'rte: no such member; did you mean rate?; name: is required; rate: expected number, received string',
  });
});

test('with unknown_members warn, unknown members are removed, also under a strict schema', () => {
  const { body, warnings } = checkBody({ body: schema }, { name: 'x', rte: 1, meta: { any: 1 } }, 'warn');
  assert.deepEqual(body, { name: 'x', meta: { any: 1 } });
  assert.deepEqual(warnings, ['rte: no such member; did you mean rate? (ignored)']);
});

test('warnings are a member of an object response and a header of any other', () => {
  const headers: string[] = [];
  const add = (response: unknown, warnings: string[]) =>
    addWarnings(response, { warnings }, (...pair) => headers.push(...pair));
  assert.deepEqual(add({ a: 1, warnings: ['own'] }, ['w']), { a: 1, warnings: ['own', 'w'] });
  assert.deepEqual(add({ a: 1 }, []), { a: 1 });
  assert.equal(headers.length, 0);
  assert.deepEqual(add([1], ['é: no such member\r\n', 'b']), [1]);
  assert.deepEqual(headers, ['X-Gw-Warnings', '%C3%A9: no such member%0D%0A | b']);
  add('text', ['x'.repeat(10_000), '😀']);
  assert.deepEqual(
    headers.map(text => text.length > 1000 && text.length <= 2000),
    [false, false, false, true],
  );
});

test('warnings about a read are a header also of an object, and a stream stays the same stream', () => {
  const headers: string[] = [];
  const add = (response: unknown, inHeader: string[], warnings: string[] = []) =>
    addWarnings(response, { warnings, inHeader }, (...pair) => headers.push(...pair));
  assert.deepEqual(add({ a: 1 }, ['w'], ['own']), { a: 1, warnings: ['own'] });
  assert.deepEqual(add([1], ['w'], ['own']), [1]);
  const stream = Readable.from(['x']);
  assert.equal(add(stream, ['w']), stream);
  assert.deepEqual(headers, ['X-Gw-Warnings', 'w', 'X-Gw-Warnings', 'w | own', 'X-Gw-Warnings', 'w']);
});
