import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applyLimit,
  intBetween,
  lenientBool,
  lenientInt,
  paginate,
  portalId,
  portalPageQuery,
  references,
  trimSlashes,
} from './shapes.ts';

test('integers and booleans are parsed from text too', () => {
  assert.equal(lenientInt.parse('2'), 2);
  assert.equal(lenientInt.parse(-1), -1);
  assert.equal(lenientBool.parse('true'), true);
  assert.equal(lenientBool.parse('False'), false);
  assert.equal(lenientBool.parse(false), false);
});

test('other text is refused with a message', () => {
  for (const wrong of ['two', '', 1.5, null, {}, '1e3', '99999999999999999999'])
    assert.equal(lenientInt.safeParse(wrong).error?.issues[0]?.message, 'must be a whole number', String(wrong));
  for (const wrong of ['yes', 2, null])
    assert.equal(lenientBool.safeParse(wrong).error?.issues[0]?.message, 'must be true or false');
  assert.equal(intBetween(0, 5).safeParse('6').success, false);
});

test('a path refers to an object by id or persistent id', () => {
  assert.deepEqual(portalId.parse('12'), { id: 12 });
  assert.deepEqual(portalId.parse('2xQ9bR7mKf3TzL0aYw5HcV8nPdE'), { cid: '2xQ9bR7mKf3TzL0aYw5HcV8nPdE' });
});

test('a reference list accepts ids, names and objects', () => {
  assert.deepEqual(references.parse([1, '2', 'Public Catalogue', { ID: 4, Name: 'x' }]), [1, 2, 'Public Catalogue', 4]);
});

test('limit bounds the rows of a page', () => {
  const query = portalPageQuery.parse({ limit: '2' });
  assert.deepEqual(query, { page: 1, per_page: 20, limit: 2 });
  assert.deepEqual(applyLimit([1, 2, 3], query), [1, 2]);
  assert.equal(portalPageQuery.safeParse({ page: '0' }).success, false);
});

test('a page of a list begins after the pages before it, and limit does not move it', () => {
  const pageOf = (query: object) => paginate([1, 2, 3, 4, 5], portalPageQuery.parse(query));
  assert.deepEqual(pageOf({ page: 2, per_page: 2 }), [3, 4]);
  assert.deepEqual(pageOf({ page: 2, per_page: 3, limit: 1 }), [4]);
  assert.deepEqual(pageOf({ page: 4, per_page: 2 }), []);
});

test('trailing slashes are trimmed in linear time', () => {
  assert.equal(trimSlashes('https://a.example//'), 'https://a.example');
  assert.equal(trimSlashes('///'), '');
  const long = `https://a.example${'/'.repeat(2_000_000)}`;
  assert.equal(trimSlashes(long), 'https://a.example');
  assert.equal(trimSlashes(`${long}b`), `${long}b`);
});
