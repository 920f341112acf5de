import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type EngineName, startApp, type TestApp } from './support/app.ts';
import {
  type Ask,
  agent,
  type Case,
  type Options,
  type Origin,
  outcomeOf,
  publisher,
  startOrigin,
} from './support/cache-fixtures.ts';
import { testRedis } from './support/services/engines.ts';

/** HTTP caching through real sockets, in both formats of a definition, in memory and in Redis. */

after(() => agent.destroy());

const base = { enabled: true, timeout: 60, cacheAllSafeRequests: true };
const plain: Options = { cache: base };
const off: Options = { cache: { ...base, enabled: false } };
const timeless: Options = { cache: { ...base, timeout: 0 } };
const coded: Options = { cache: { ...base, cacheResponseCodes: [200, 404] } };
const byHeader: Options = { cache: { ...base, cacheByHeaders: ['X-Lang', 'X-Tenant'] } };
const decided: Options = { cache: { ...base, cacheResponseCodes: [200], enableUpstreamCacheControl: true } };
const named: Options = { cache: { ...base, enableUpstreamCacheControl: true, controlTTLHeaderName: 'X-Keep-For' } };
const untimed: Options = { cache: { ...base, timeout: 0, enableUpstreamCacheControl: true } };
const endpoints: Options = {
  cache: { ...base, cacheAllSafeRequests: false, cacheResponseCodes: [200] },
  endpoints: [
    { path: '/items/{id}', method: 'GET' },
    { path: '/missing', method: 'GET', cacheResponseCodes: [404] },
    { path: '/posted', method: 'POST', timeout: 60 },
    { path: '/put', method: 'PUT' },
    { path: '/deleted', method: 'DELETE' },
    { path: '/searched', method: 'POST', cacheByRegex: '"id":\\s*"[a-z]+"' },
  ],
};
const timed: Options = {
  cache: { ...base, cacheAllSafeRequests: false, timeout: 0 },
  endpoints: [
    { path: '/timed', method: 'GET', timeout: 60 },
    { path: '/untimed', method: 'GET' },
  ],
};

const get: Ask = {};
const head: Ask = { method: 'HEAD' };
const put: Ask = { method: 'PUT', body: 'x' };
const withHeader = (name: string, value: string): Ask => ({ headers: { [name]: value } });
const control = (value: string) => ({ headers: { 'cache-control': value } });
const modified = 'Tue, 01 Jan 2019 00:00:00 GMT';
const tagged = { headers: { etag: '"one"', 'last-modified': modified, 'content-type': 'text/plain' } };
const asked = { 'x-gw-cache-action-set': '1' };
const postOf = (body: string, path = '/posted', headers: Record<string, string> = {}): Ask => ({
  ...{ method: 'POST', path, body },
  headers: { 'content-type': 'text/plain', ...headers },
});
const item: Ask = { path: '/items/7' };

type Row = [title: string, expected: string, asks: Ask[], says?: Case['says']];

const ofPlain: Row[] = [
  ['the second call is answered from what was kept', 'MHH', [get, get, get]],
  ['another query is another call', 'MM', [get, { query: '&b=1' }]],
  ['the order of a query counts', 'MM', [{ query: '&a=1&b=2' }, { query: '&b=2&a=1' }]],
  ['another path is another call', 'MM', [get, { path: '/b' }]],
  ['a final slash is another path', 'MM', [get, { path: '/a/' }]],
  ['another spelling of a path is the same path', 'MH', [get, { path: '/%61' }]],
  ['another host is another call', 'MM', [get, withHeader('host', 'else.example')]],
  ['HEAD is answered from a kept GET', 'MHH', [get, head, get]],
  ['GET is not answered from a kept HEAD', 'MMH', [head, get, get]],
  ['HEAD is answered from a kept HEAD', 'MH', [head, head]],
  ['OPTIONS is safe', 'MH', [{ method: 'OPTIONS' }, { method: 'OPTIONS' }]],
  ['OPTIONS and GET are different', 'MM', [get, { method: 'OPTIONS' }]],
  ['POST is not safe', 'MM', [postOf('x', '/a'), postOf('x', '/a')]],
  ['PUT is not safe', 'MM', [put, put]],
  [
    'PATCH is not safe',
    'MM',
    [
      { method: 'PATCH', body: 'x' },
      { method: 'PATCH', body: 'x' },
    ],
  ],
  ['DELETE is not safe', 'MM', [{ method: 'DELETE' }, { method: 'DELETE' }]],
  ['a method of one’s own is not safe', 'MM', [{ method: 'PROPFIND' }, { method: 'PROPFIND' }]],
  ['a GET with a body goes to the upstream', 'MMM', [get, { body: 'x' }, { body: 'x' }]],
  ['404 is kept', 'MH', [get, get], { status: 404 }],
  ['500 is kept where no status is listed', 'MH', [get, get], { status: 500 }],
  ['204 is kept', 'MH', [get, get], { status: 204 }],
  ['a redirect is kept', 'MH', [get, get], { status: 301, headers: { location: '/b' } }],
  ['206 is not kept', 'MM', [get, get], { status: 206, headers: { 'content-range': 'bytes 0-1/9' }, body: 'ab' }],
  ['416 is not kept', 'MM', [get, get], { status: 416 }],
  ['a part is asked of the upstream', 'MMM', [get, withHeader('range', 'bytes=0-1'), withHeader('range', 'bytes=0-1')]],
  ['a part is not kept', 'MMH', [withHeader('range', 'bytes=0-1'), get, get]],
  ['If-Range is asked of the upstream', 'MM', [get, { headers: { 'if-range': '"one"', range: 'bytes=0-1' } }], tagged],
  ['If-Match is asked of the upstream', 'MM', [get, withHeader('if-match', '"one"')], tagged],
  ['If-Unmodified-Since is asked of the upstream', 'MM', [get, withHeader('if-unmodified-since', modified)], tagged],
  ['If-None-Match with the same tag', 'M3', [get, withHeader('if-none-match', '"one"')], tagged],
  ['If-None-Match with the same weak tag', 'M3', [get, withHeader('if-none-match', 'W/"one"')], tagged],
  ['If-None-Match with several tags', 'M3', [get, withHeader('if-none-match', '"zero", "one"')], tagged],
  ['If-None-Match with any tag', 'M3', [get, withHeader('if-none-match', '*')], tagged],
  ['If-None-Match with another tag', 'MH', [get, withHeader('if-none-match', '"two"')], tagged],
  ['If-None-Match of a HEAD', 'M3', [get, { method: 'HEAD', headers: { 'if-none-match': '"one"' } }], tagged],
  [
    'If-None-Match where nothing is kept',
    'MMH',
    [{ ...withHeader('if-none-match', '"one"'), says: { status: 304 } }, { says: {} }, get],
  ],
  ['If-Modified-Since the same time', 'M3', [get, withHeader('if-modified-since', modified)], tagged],
  ['If-Modified-Since before', 'MH', [get, withHeader('if-modified-since', 'Mon, 01 Jan 2018 00:00:00 GMT')], tagged],
  [
    'a tag wins over a time',
    'MH',
    [get, { headers: { 'if-none-match': '"two"', 'if-modified-since': modified } }],
    tagged,
  ],
  ['an answer with no-store', 'MM', [get, get], control('no-store')],
  ['an answer with private', 'MM', [get, get], control('private, max-age=60')],
  ['an answer with no-cache', 'MM', [get, get], control('no-cache')],
  ['an answer with max-age=0', 'MM', [get, get], control('max-age=0')],
  ['an answer with max-age', 'MH', [get, get], control('max-age=60')],
  ['s-maxage wins: no', 'MM', [get, get], control('max-age=60, s-maxage=0')],
  ['s-maxage wins: yes', 'MH', [get, get], control('max-age=0, s-maxage=60')],
  ['an age beyond its time', 'MM', [get, get], { headers: { 'cache-control': 'max-age=60', age: '60' } }],
  ['Expires in the past', 'MM', [get, get], { headers: { expires: modified } }],
  ['Expires: 0', 'MM', [get, get], { headers: { expires: '0' } }],
  ['Expires in the future', 'MH', [get, get], { headers: { expires: 'Tue, 01 Jan 2999 00:00:00 GMT' } }],
  ['Pragma says nothing of answers', 'MH', [get, get], { headers: { pragma: 'no-cache' } }],
  ['Vary: *', 'MM', [get, get], { headers: { vary: '*' } }],
  [
    'Vary, and the same header',
    'MH',
    [withHeader('accept', 'a'), withHeader('accept', 'a')],
    { headers: { vary: 'Accept' } },
  ],
  [
    'Vary, and another header: each has its own',
    'MMHH',
    [withHeader('accept', 'a'), withHeader('accept', 'b'), withHeader('accept', 'a'), withHeader('accept', 'b')],
    { headers: { vary: 'Accept' } },
  ],
  [
    'Vary, and a header that is missing',
    'MHMH',
    [get, get, withHeader('accept', ''), withHeader('accept', '')],
    { headers: { vary: 'accept' } },
  ],
  [
    'Vary by several headers',
    'MMH',
    [
      { headers: { accept: 'a', 'x-b': '1' } },
      { headers: { accept: 'a', 'x-b': '2' } },
      { headers: { 'x-b': '1', accept: 'a' } },
    ],
    { headers: { vary: ['Accept', 'X-B'] } },
  ],
  [
    'Vary that grows: a response stored by fewer headers is fetched again',
    'MMMH',
    [
      withHeader('accept', 'a'),
      { headers: { accept: 'b', 'x-b': '1' }, says: { headers: { vary: 'Accept, X-B' } } },
      withHeader('accept', 'a'),
      withHeader('accept', 'a'),
    ],
    { headers: { vary: 'Accept' } },
  ],
  [
    'an encoding is for those who asked for it',
    'MMHH',
    [withHeader('accept-encoding', 'gzip'), get, withHeader('accept-encoding', 'gzip'), get],
    { headers: { 'content-encoding': 'gzip' } },
  ],
  ['an answer with a cookie', 'MM', [get, get], { headers: { 'set-cookie': 'a=b' } }],
  ['events', 'MM', [get, get], { headers: { 'content-type': 'text/event-stream' } }],
  ['a caller’s no-store: nothing is kept', 'MMH', [control('no-store'), get, get]],
  ['a caller’s no-store: nothing kept is used', 'MM', [get, control('no-store')]],
  ['a caller’s no-cache is not listened to', 'MH', [get, control('no-cache')]],
  ['a caller’s max-age is not listened to', 'MH', [get, control('max-age=0')]],
  [
    'another Authorization is another caller',
    'MMH',
    [withHeader('authorization', 'a'), withHeader('authorization', 'b'), withHeader('authorization', 'a')],
  ],
  ['no Authorization is another caller', 'MM', [withHeader('authorization', 'a'), get]],
  [
    'another Cookie is another caller',
    'MMH',
    [withHeader('cookie', 's=1'), withHeader('cookie', 's=2'), withHeader('cookie', 's=1')],
  ],
  [
    'headers that say nothing about the caller make no difference',
    'MH',
    [withHeader('dnt', '0'), withHeader('dnt', '1')],
  ],
  [
    'any other header makes a difference',
    'MMH',
    [withHeader('x-lang', 'de'), withHeader('x-lang', 'en'), withHeader('x-lang', 'de')],
  ],
  ['an unsafe request invalidates the entry for its client', 'MHMMH', [get, get, put, get, get]],
  ['a DELETE is a change', 'MMM', [get, { method: 'DELETE' }, get]],
  [
    'a change makes kept variants untrue',
    'MMMH',
    [withHeader('accept', 'a'), put, withHeader('accept', 'a'), withHeader('accept', 'a')],
    { headers: { vary: 'Accept' } },
  ],
  ['a change that failed is none', 'MMH', [get, { ...put, says: { status: 500 } }, get]],
  ['a change elsewhere is none', 'MMH', [get, { ...put, path: '/b' }, get]],
  ['a body of unknown length', 'MH', [get, get], { chunked: true }],
  [
    'trailers are dropped',
    'MH',
    [withHeader('te', 'trailers'), withHeader('te', 'trailers')],
    { chunked: true, trailers: { 'x-sum': '1' } },
  ],
  ['an empty body', 'MH', [get, get], { body: '' }],
  ['any bytes', 'MH', [get, get], { body: Buffer.from([0, 255, 10, 13, 128]) }],
  ['a body that is too long', 'MM', [get, get], { body: Buffer.alloc(1_048_577) }],
  ['a body that turns out to be too long', 'MM', [get, get], { body: Buffer.alloc(1_048_577), chunked: true }],
  ['a body just short enough', 'MH', [get, get], { body: Buffer.alloc(1_048_576), chunked: true }],
];

const ofEndpoints: Row[] = [
  ['an endpoint that is listed', 'MH', [item, item]],
  ['an endpoint that is not', 'MM', [get, get]],
  ['another item of the endpoint', 'MM', [item, { path: '/items/8' }]],
  [
    'a method that is not listed',
    'MM',
    [
      { ...item, method: 'OPTIONS' },
      { ...item, method: 'OPTIONS' },
    ],
  ],
  ['a status of the endpoint', 'MH', [{ path: '/missing' }, { path: '/missing' }], { status: 404 }],
  ['a status of the API where the endpoint has its own', 'MM', [{ path: '/missing' }, { path: '/missing' }]],
  ['a status of the API', 'MM', [item, item], { status: 404 }],
  ['a POST with the same body', 'MH', [postOf('same'), postOf('same')]],
  ['a POST with another body', 'MM', [postOf('one'), postOf('two')]],
  [
    'a POST with the same body of another type',
    'MM',
    [postOf('same'), postOf('same', '/posted', { 'content-type': 'text/csv' })],
  ],
  [
    'a POST without a body',
    'MHM',
    [{ method: 'POST', path: '/posted' }, { method: 'POST', path: '/posted' }, postOf('x')],
  ],
  [
    'a PUT with the same body',
    'MH',
    [
      { ...put, path: '/put' },
      { ...put, path: '/put' },
    ],
  ],
  [
    'a DELETE',
    'MH',
    [
      { method: 'DELETE', path: '/deleted' },
      { method: 'DELETE', path: '/deleted' },
    ],
  ],
  [
    'the part of a body that counts',
    'MHM',
    [
      postOf('{"n":1,"id": "ab"}', '/searched'),
      postOf('{"n":2,"id": "ab"}', '/searched'),
      postOf('{"n":2,"id": "cd"}', '/searched'),
    ],
  ],
  ['bodies without the part that counts', 'MH', [postOf('{"n":1}', '/searched'), postOf('{"n":2}', '/searched')]],
  [
    'a body too long to be searched',
    'MM',
    [postOf('x'.repeat(65_537), '/searched'), postOf('x'.repeat(65_537), '/searched')],
  ],
];

const all: Case[] = [
  ...ofPlain.map(row => caseOf(plain, row)),
  ...ofEndpoints.map(row => caseOf(endpoints, row)),
  caseOf(off, ['nothing is kept where it is off', 'MM', [get, get]]),
  caseOf(timeless, ['nothing is kept for no time', 'MM', [get, get]]),
  caseOf(timed, ['an endpoint has a time of its own', 'MH', [{ path: '/timed' }, { path: '/timed' }]]),
  caseOf(timed, ['an endpoint without a time has that of the API', 'MM', [{ path: '/untimed' }, { path: '/untimed' }]]),
  caseOf(coded, ['a status that is listed', 'MH', [get, get], { status: 404 }]),
  caseOf(coded, ['a status that is not', 'MM', [get, get], { status: 500 }]),
  caseOf(byHeader, [
    'headers of the definition',
    'MMHMH',
    [withHeader('x-lang', 'de'), withHeader('x-lang', 'en'), withHeader('X-LANG', 'de'), get, get],
  ]),
  caseOf(byHeader, ['each of them', 'MM', [withHeader('x-lang', 'de'), withHeader('x-tenant', 'de')]]),
  caseOf(decided, ['the upstream decides and does not ask', 'MM', [get, get]]),
  caseOf(decided, ['the upstream asks', 'MH', [get, get], { headers: asked }]),
  caseOf(decided, ['the upstream asks, whatever the status', 'MH', [get, get], { status: 503, headers: asked }]),
  caseOf(decided, [
    'the upstream says for no time',
    'MM',
    [get, get],
    { headers: { ...asked, 'x-gw-cache-action-set-ttl': '0' } },
  ]),
  caseOf(decided, [
    'the upstream asks for an answer with a cookie',
    'MH',
    [get, get],
    { headers: { ...asked, 'set-cookie': 'a=b' } },
  ]),
  caseOf(decided, [
    'the upstream asks and says no-store',
    'MM',
    [get, get],
    { headers: { ...asked, 'cache-control': 'no-store' } },
  ]),
  caseOf(named, [
    'a header of its own says for no time',
    'MM',
    [get, get],
    { headers: { ...asked, 'x-keep-for': '0' } },
  ]),
  caseOf(named, [
    'the usual header says nothing then',
    'MH',
    [get, get],
    { headers: { ...asked, 'x-gw-cache-action-set-ttl': '0' } },
  ]),
  caseOf(untimed, [
    'only the upstream says how long',
    'MH',
    [get, get],
    { headers: { ...asked, 'x-gw-cache-action-set-ttl': '60' } },
  ]),
  caseOf(untimed, ['and does not', 'MM', [get, get], { headers: asked }]),
];

function caseOf(options: Options, [title, expected, asks, says]: Row): Case {
  return { title, options, asks, expected, ...(says ? { says } : {}) };
}

const byCallers: Case[] = (
  [
    ['no-cache takes nothing kept, and what comes is kept', 'MMH', [get, control('no-cache'), get]],
    ['Pragma: no-cache is the same', 'MM', [get, withHeader('pragma', 'no-cache')]],
    ['max-age=0 too', 'MM', [get, control('max-age=0')]],
    ['a max-age that what is kept is not beyond', 'MH', [get, control('max-age=60')]],
    ['a min-fresh that what is kept has not left', 'MM', [get, control('min-fresh=61')]],
    ['a min-fresh that it has', 'MH', [get, control('min-fresh=5')]],
    ['only-if-cached, and it is', 'MH', [get, control('only-if-cached')]],
  ] satisfies Row[]
).map(row => caseOf(plain, row));

interface Place {
  readonly app: TestApp;
  readonly origin: Origin;
  readonly publish: ReturnType<typeof publisher>;
}

function declare(
  title: string,
  engine: EngineName,
  settings: () => Promise<Record<string, string>>,
  cases: readonly Case[],
) {
  describe(title, () => {
    let place: Place;
    before(async () => {
      const origin = await startOrigin();
      const app = await startApp(engine, { settings: await settings() });
      place = {
        app,
        origin,
        publish: publisher(
          () => app,
          () => origin.upstream,
        ),
      };
    });
    after(async () => {
      await place?.app.close();
      await place?.origin.upstream.close();
    });
    for (const it of cases)
      test(it.title, async () => {
        for (const { url, format } of await place.publish(it.options))
          assert.equal(await outcomeOf(url, place.origin, it), it.expected, format);
      });
  });
}

declare('kept in memory', 'sqlite', async () => ({}), all);
declare('kept in Redis', 'postgres', async () => ({ 'redis.url': await testRedis(), 'redis.timeout_ms': '5000' }), all);
declare('callers have a say', 'sqlite', async () => ({ 'cache.honour_request_cache_control': 'true' }), byCallers);

test('the tables hold at least sixty cases of HTTP caching', () => {
  assert.ok(all.length >= 60, String(all.length));
});
