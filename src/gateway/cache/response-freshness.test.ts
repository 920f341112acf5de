import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { CacheRules } from './cache-policy.ts';
import { computeTtlMs, parseAge, parseVary, selectStoredHeaders } from './response-freshness.ts';

const nowMs = Date.UTC(2030, 0, 1, 12);
const at = (seconds: number) => new Date(nowMs + seconds * 1000).toUTCString();
const plain: CacheRules = { ttlMs: 60_000, statuses: undefined, bodyPattern: undefined, ttlHeader: undefined };
const listed: CacheRules = { ...plain, statuses: new Set([200, 404]) };
const decided: CacheRules = { ...listed, ttlHeader: 'x-gw-cache-action-set-ttl' };

const createResponse = (status: number, headers: Record<string, string | string[]>) =>
  new GatewayResponse(
    status,
    new HeaderList(Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap(it => [name, it]))),
    noBody(),
  );

type Row = [
  title: string,
  seconds: number,
  headers: Record<string, string | string[]>,
  status?: number,
  rules?: CacheRules,
];

const rows: readonly Row[] = [
  ['no directive: the TTL of the definition', 60, {}],
  ['any status where none is listed', 60, {}, 500],
  ['a status that is listed', 60, {}, 404, listed],
  ['a status that is not', 0, {}, 500, listed],
  ['a partial response', 0, {}, 206],
  ['a partial response, even where its status is listed', 0, {}, 206, { ...plain, statuses: new Set([206]) }],
  ['a 200 response with Content-Range', 0, { 'Content-Range': 'bytes 0-1/9' }],
  ['no news', 0, {}, 304],
  ['an unsatisfiable range', 0, {}, 416],
  ['no-store', 0, { 'Cache-Control': 'no-store' }],
  ['private', 0, { 'Cache-Control': 'private' }],
  ['private for one header', 0, { 'Cache-Control': 'max-age=9, private="X-User"' }],
  ['no-cache', 0, { 'Cache-Control': 'no-cache' }],
  ['in capitals, among others', 0, { 'Cache-Control': 'Public, NO-STORE, max-age=60' }],
  ['in a second field', 0, { 'Cache-Control': ['public', 'no-store'] }],
  ['a word in quotes is no directive', 60, { 'Cache-Control': 'ext="no-store, private"' }],
  ['public', 60, { 'Cache-Control': 'public' }],
  ['must-revalidate keeps while fresh', 60, { 'Cache-Control': 'must-revalidate' }],
  ['a shorter max-age', 10, { 'Cache-Control': 'max-age=10' }],
  ['a longer max-age', 60, { 'Cache-Control': 'max-age=600' }],
  ['max-age=0', 0, { 'Cache-Control': 'max-age=0' }],
  ['a malformed max-age', 0, { 'Cache-Control': 'max-age=soon' }],
  ['a negative max-age', 0, { 'Cache-Control': 'max-age=-5' }],
  ['a max-age in quotes', 10, { 'Cache-Control': 'max-age="10"' }],
  ['max-age repeated: the shorter', 5, { 'Cache-Control': 'max-age=10, max-age=5' }],
  ['s-maxage wins over max-age', 20, { 'Cache-Control': 'max-age=5, s-maxage=20' }],
  ['s-maxage=0 too', 0, { 'Cache-Control': 'max-age=50, s-maxage=0' }],
  ['a huge max-age', 60, { 'Cache-Control': `max-age=${'9'.repeat(30)}` }],
  ['an Age header', 7, { 'Cache-Control': 'max-age=10', Age: '3' }],
  ['an Age beyond max-age', 0, { 'Cache-Control': 'max-age=10', Age: '11' }],
  ['Expires', 30, { Expires: at(30) }],
  ['Expires, counted from Date', 20, { Expires: at(30), Date: at(10) }],
  ['Expires in the past', 0, { Expires: at(-1) }],
  ['Expires: 0', 0, { Expires: '0' }],
  ['Expires: never', 0, { Expires: 'never' }],
  ['max-age wins over Expires', 10, { 'Cache-Control': 'max-age=10', Expires: '0' }],
  ['Vary: *', 0, { Vary: '*' }],
  ['Vary: * among others', 0, { Vary: ['Accept', 'Origin, *'] }],
  ['Vary', 60, { Vary: 'Accept' }],
  ['too many Vary names', 0, { Vary: Array.from({ length: 17 }, (_, n) => `X-${n}`).join(',') }],
  ['Set-Cookie', 0, { 'Set-Cookie': 'a=b' }],
  ['Set-Cookie that is public', 0, { 'Set-Cookie': 'a=b', 'Cache-Control': 'public' }],
  ['events', 0, { 'Content-Type': 'text/event-stream; charset=utf-8' }],
  ['parts that replace each other', 0, { 'Content-Type': 'multipart/x-mixed-replace; boundary=a' }],
  ['gRPC', 0, { 'Content-Type': 'application/grpc+proto' }],
  ['no TTL in the definition', 0, {}, 200, { ...plain, ttlMs: 0 }],
  ['a TTL header while the definition decides', 60, { 'x-gw-cache-action-set-ttl': '5' }],
  ['the upstream decides and sends no header', 0, {}, 200, decided],
  ['the upstream decides and sends the TTL header alone', 0, { 'x-gw-cache-action-set-ttl': '5' }, 200, decided],
  ['the upstream requests storage', 60, { 'x-gw-cache-action-set': '1' }, 200, decided],
  ['the upstream requests storage with an empty header', 0, { 'x-gw-cache-action-set': ' ' }, 200, decided],
  ['the upstream requests storage of a status that is not listed', 60, { 'x-gw-cache-action-set': '1' }, 500, decided],
  [
    'the upstream requests storage with a TTL',
    5,
    { 'x-gw-cache-action-set': '1', 'X-Gw-Cache-Action-Set-TTL': ' 5 ' },
    200,
    decided,
  ],
  [
    'the upstream requests a TTL longer than that of the definition',
    600,
    { 'x-gw-cache-action-set': '1', 'x-gw-cache-action-set-ttl': '600' },
    200,
    decided,
  ],
  [
    'the upstream requests a TTL of 0',
    0,
    { 'x-gw-cache-action-set': '1', 'x-gw-cache-action-set-ttl': '0' },
    200,
    decided,
  ],
  [
    'the upstream requests a negative TTL',
    0,
    { 'x-gw-cache-action-set': '1', 'x-gw-cache-action-set-ttl': '-1' },
    200,
    decided,
  ],
  [
    'the upstream requests a malformed TTL',
    60,
    { 'x-gw-cache-action-set': '1', 'x-gw-cache-action-set-ttl': 'long' },
    200,
    decided,
  ],
  [
    'the TTL header has another name',
    7,
    { 'x-gw-cache-action-set': '1', 'X-Ttl': '7' },
    200,
    { ...decided, ttlHeader: 'x-ttl' },
  ],
  ['a cookie, on request', 60, { 'x-gw-cache-action-set': '1', 'Set-Cookie': 'a=b' }, 200, decided],
  ['no-store stays no-store', 0, { 'x-gw-cache-action-set': '1', 'Cache-Control': 'no-store' }, 200, decided],
  ['private stays private', 0, { 'x-gw-cache-action-set': '1', 'Cache-Control': 'private' }, 200, decided],
  ['a partial response, on request', 0, { 'x-gw-cache-action-set': '1' }, 206, decided],
];

for (const [title, seconds, headers, status = 200, rules = plain] of rows)
  test(`TTL ${seconds} s: ${title}`, () => {
    assert.equal(computeTtlMs(rules, createResponse(status, headers), nowMs), seconds * 1000);
  });

test('Vary names come from Vary and from a content encoding', () => {
  const of = (headers: Record<string, string | string[]>) => parseVary(createResponse(200, headers).headers);
  assert.deepEqual(of({}), []);
  assert.deepEqual(of({ Vary: ['Origin, ACCEPT', 'accept,, '] }), ['accept', 'origin']);
  assert.deepEqual(of({ 'Content-Encoding': 'gzip', Vary: 'Accept' }), ['accept', 'accept-encoding']);
  assert.equal(of({ Vary: 'a, *' }), undefined);
});

test('a malformed Age counts as 0', () => {
  for (const [age, seconds] of [
    ['5', 5],
    [' 7 ', 7],
    ['-1', 0],
    ['x', 0],
  ] as const)
    assert.equal(parseAge(createResponse(200, { Age: age }).headers), seconds);
});

test('stored headers leave out those of one response, and one occurrence for each that the gateway adds', () => {
  const call = { extraResponseHeaders: ['Vary', 'Origin', 'X-Expires', 'soon'] } as Exchange;
  const headers = {
    Vary: ['Origin', 'Origin', 'Accept'],
    'Set-Cookie': 'a=b',
    Age: '5',
    'X-Expires': ['soon', 'later'],
    'X-Own': '1',
    'x-gw-cached-response': '1',
  };
  assert.deepEqual(selectStoredHeaders(call, createResponse(200, headers)), [
    ...['Vary', 'Origin', 'Vary', 'Accept'],
    ...['X-Expires', 'later', 'X-Own', '1'],
  ]);
});
