import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { CacheEntry } from './cache-entry.ts';
import { buildStoredResponse } from './stored-response.ts';

const nowMs = 100_000;
const modified = 'Tue, 01 Jan 2030 00:00:00 GMT';
const entry = (headers: string[], more: Partial<CacheEntry> = {}): CacheEntry => ({
  status: 200,
  headers,
  body: Buffer.from('body'),
  storedAtMs: nowMs - 2500,
  ageSeconds: 1,
  expiresAtMs: nowMs + 1,
  ...more,
});
const call = (headers: Record<string, string>, method = 'GET') =>
  ({ method, headers: new HeaderList(Object.entries(headers).flat()) }) as Exchange;

test('a hit is the stored response with Age and the cache header, and skips response steps', () => {
  const stored = entry(['Content-Type', 'text/plain', 'X-Own', '1'], { status: 404 });
  const response = buildStoredResponse(stored, call({}), nowMs);
  assert.equal(response.status, 404);
  assert.equal(response.body.bytes, stored.body);
  assert.deepEqual(response.headers.flat, [...stored.headers, 'Age', '3', 'x-gw-cached-response', '1']);
  assert.ok(response.skipsResponseSteps);
  response.headers.set('X-Own', '2');
  assert.deepEqual(stored.headers, ['Content-Type', 'text/plain', 'X-Own', '1'], 'the stored headers are unchanged');
});

test('a stored HEAD response keeps its Content-Length, if it has one', () => {
  const head = (headers: string[]) =>
    buildStoredResponse(entry(headers, { body: Buffer.alloc(0) }), call({}, 'HEAD'), nowMs).body.length;
  assert.equal(head(['Content-Length', '1234']), 1234);
  assert.equal(head([]), undefined);
  assert.equal(buildStoredResponse(entry([], { body: Buffer.alloc(0) }), call({}), nowMs).body.length, 0);
});

const tagged = ['ETag', '"a,b"', 'Last-Modified', modified, 'Content-Type', 'text/plain', 'Cache-Control', 'max-age=5'];
const conditions: [
  title: string,
  status: number,
  headers: Record<string, string>,
  stored?: string[],
  method?: string,
][] = [
  ['the same tag', 304, { 'If-None-Match': '"a,b"' }],
  ['the same tag for a HEAD', 304, { 'If-None-Match': '"a,b"' }, tagged, 'HEAD'],
  ['the same tag, weakly', 304, { 'If-None-Match': 'W/"a,b"' }],
  ['a weak tag of the upstream', 304, { 'If-None-Match': '"x"' }, ['ETag', 'W/"x"']],
  ['one of several tags', 304, { 'If-None-Match': '"x", W/"y" ,"a,b"' }],
  ['any tag', 304, { 'If-None-Match': ' * ' }],
  ['another tag', 200, { 'If-None-Match': '"a"' }],
  ['a tag without quotes on both sides', 304, { 'If-None-Match': 'abc' }, ['ETag', 'abc']],
  ['a tag where the stored response has none', 200, { 'If-None-Match': '"a"' }, []],
  ['the same tag for an OPTIONS', 200, { 'If-None-Match': '"a,b"' }, tagged, 'OPTIONS'],
  ['the same time', 304, { 'If-Modified-Since': modified }],
  ['a later time', 304, { 'If-Modified-Since': 'Wed, 02 Jan 2030 00:00:00 GMT' }],
  ['an earlier time', 200, { 'If-Modified-Since': 'Mon, 31 Dec 2029 00:00:00 GMT' }],
  ['a malformed time', 200, { 'If-Modified-Since': 'yesterday' }],
  ['a time where the stored response has none', 200, { 'If-Modified-Since': modified }, []],
  ['another tag, whatever the time', 200, { 'If-None-Match': '"x"', 'If-Modified-Since': modified }],
];

for (const [title, status, headers, stored = tagged, method] of conditions)
  test(`conditional request: ${title} gets ${status}`, () => {
    const response = buildStoredResponse(entry(stored), call(headers, method), nowMs);
    assert.equal(response.status, status);
    if (status !== 304) return;
    assert.equal(response.body.bytes, undefined);
    assert.equal(response.headers.has('content-type'), false);
    assert.equal(response.headers.get('etag'), new HeaderList(stored).get('etag'));
  });

test('a condition applies to stored 200 responses only', () => {
  const response = buildStoredResponse(entry(tagged, { status: 404 }), call({ 'If-None-Match': '"a,b"' }), nowMs);
  assert.equal(response.status, 404);
});
