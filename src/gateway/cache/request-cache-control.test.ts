import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyFromBytes, noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { CacheEntry } from './cache-entry.ts';
import { computeAge, isCacheableRequest, isFreshEnough, parseRequestCacheControl } from './request-cache-control.ts';

const headersOf = (headers: Record<string, string>) => new HeaderList(Object.entries(headers).flat());

function call(headers: Record<string, string> = {}, more: object = {}): Exchange {
  const base = {
    method: 'GET',
    receivedMethod: 'GET',
    upgrade: '',
    rewrittenTarget: undefined,
    upstreamMethod: undefined,
  };
  return { ...base, headers: headersOf(headers), body: noBody(), ...more } as unknown as Exchange;
}

const body = bodyFromBytes(Buffer.from('x'));
const rows: [title: string, ordinary: boolean, call: Exchange][] = [
  ['a GET', true, call()],
  ['a HEAD', true, call({}, { method: 'HEAD', receivedMethod: 'HEAD' })],
  ['a POST with a body', true, call({}, { method: 'POST', receivedMethod: 'POST', body })],
  ['a GET with a body', false, call({}, { body })],
  ['a DELETE with a body', false, call({}, { method: 'DELETE', receivedMethod: 'DELETE', body })],
  ['a part', false, call({ Range: 'bytes=0-1' })],
  ['If-Range', false, call({ 'If-Range': '"a"' })],
  ['If-Match', false, call({ 'If-Match': '"a"' })],
  ['If-Unmodified-Since', false, call({ 'If-Unmodified-Since': 'now' })],
  ['no-store', false, call({ 'Cache-Control': 'no-store' })],
  ['no-cache, which the lookup decides', true, call({ 'Cache-Control': 'no-cache', Pragma: 'no-cache' })],
  ['If-None-Match', true, call({ 'If-None-Match': '"a"' })],
  ['an upgrade', false, call({}, { upgrade: 'websocket' })],
  ['gRPC', false, call({ 'Content-Type': 'application/grpc' }, { method: 'POST', receivedMethod: 'POST' })],
  ['a HEAD that loops as a GET', false, call({}, { receivedMethod: 'HEAD' })],
  ['a GET that loops as a HEAD', false, call({}, { method: 'HEAD' })],
  ['a GET that is sent as a POST', true, call({}, { upstreamMethod: 'POST' })],
  ['a GET that is sent as a HEAD', false, call({}, { upstreamMethod: 'HEAD' })],
  ['a rewrite to another API', false, call({}, { rewrittenTarget: { address: { loop: 'self' } } })],
  ['a rewrite to another address', true, call({}, { rewrittenTarget: { address: { loop: '' } } })],
];

for (const [title, ordinary, given] of rows)
  test(`${ordinary ? 'cacheable' : 'not cacheable'} request: ${title}`, () => {
    assert.equal(isCacheableRequest(given), ordinary);
  });

test('request directives: max-age, min-fresh and no-cache decide which entries are fresh enough', () => {
  const entry = { storedAtMs: 10_000, ageSeconds: 3, expiresAtMs: 40_000 } as CacheEntry;
  const nowMs = 20_900;
  assert.equal(computeAge(entry, nowMs), 13);
  assert.equal(computeAge(entry, 5000), 3, 'a clock that was set back does not lower the age');
  const rows: [good: boolean, headers: Record<string, string>][] = [
    [true, {}],
    [false, { 'Cache-Control': 'no-cache' }],
    [false, { Pragma: 'no-cache' }],
    [true, { Pragma: 'no-cache', 'Cache-Control': 'max-age=50' }],
    [false, { 'Cache-Control': 'max-age=0' }],
    [false, { 'Cache-Control': 'max-age=12' }],
    [true, { 'Cache-Control': 'max-age=13' }],
    [true, { 'Cache-Control': 'min-fresh=19' }],
    [false, { 'Cache-Control': 'min-fresh=20' }],
    [true, { 'Cache-Control': 'only-if-cached, max-stale' }],
  ];
  for (const [good, headers] of rows)
    assert.equal(
      isFreshEnough(entry, parseRequestCacheControl(headersOf(headers)), nowMs),
      good,
      JSON.stringify(headers),
    );
  assert.ok(parseRequestCacheControl(headersOf({ 'Cache-Control': 'only-if-cached' })).onlyIfCached);
});
