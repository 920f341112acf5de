import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { array, constantFrom, assert as holds, property } from 'fast-check';
import { httpCases } from '../../../tests/support/http-cache/all-cases.ts';
import { caseStartMs, cc } from '../../../tests/support/http-cache/case.ts';
import { createHttpCacheBench, runInProcess } from '../../../tests/support/http-cache/run-in-process.ts';
import { noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { GatewayResponse } from '../http/response.ts';
import { parseCacheDate } from './http-date.ts';
import { parseStructuredDictionary } from './structured-dictionary.ts';

describe('HTTP caching', () => {
  for (const given of httpCases) test(given.title, () => runInProcess(given));

  test('there are at least 150 cases, each with a title of its own', () => {
    assert.ok(httpCases.length >= 150);
    assert.equal(new Set(httpCases.map(({ title }) => title)).size, httpCases.length);
  });
});

describe('HTTP caching: Cache-Status (RFC 9211)', () => {
  const statusOf = async (
    bench: ReturnType<typeof createHttpCacheBench>,
    step: Parameters<typeof bench.send>[0] = {},
  ) => (await bench.send(step)).headers['cache-status'];

  test('hit, miss, validation and stale responses have their parameters', async () => {
    const bench = createHttpCacheBench();
    const reply = cc('max-age=10, stale-if-error=60', { etag: '"a"' });
    assert.equal(await statusOf(bench, { reply }), 'Gatewright; fwd=uri-miss; fwd-status=200; stored');
    bench.time.ms += 4000;
    assert.equal(await statusOf(bench), 'Gatewright; hit; ttl=6');
    bench.time.ms += 7000;
    assert.equal(await statusOf(bench), 'Gatewright; fwd=stale; fwd-status=304; ttl=10; stored');
    bench.time.ms += 12_000;
    assert.equal(await statusOf(bench, { reply: { status: 503 } }), 'Gatewright; fwd=stale; ttl=-2');
    assert.equal(
      await statusOf(bench, { path: '/b', reply: cc('no-store') }),
      'Gatewright; fwd=uri-miss; fwd-status=200',
    );
  });

  test('a member of the upstream’s Cache-Status stays before the own one, and is not stored', async () => {
    const bench = createHttpCacheBench();
    const reply = cc('max-age=10', { 'cache-status': 'Origin; hit' });
    assert.equal(await statusOf(bench, { reply }), 'Origin; hit, Gatewright; fwd=uri-miss; fwd-status=200; stored');
    assert.equal(await statusOf(bench), 'Gatewright; hit; ttl=10');
  });
});

describe('HTTP caching: concurrent requests', () => {
  test('requests for the same public response are coalesced across clients, others only of one client', async () => {
    const bench = createHttpCacheBench();
    const replyOf = (value: string) => ({ reply: cc(value) });
    await bench.send({ path: '/x', ...replyOf('public, max-age=60') });
    const first = bench.createCall({ path: '/b', address: '10.0.0.1' });
    assert.equal(await bench.hooks.request(first), undefined);
    const second = bench.createCall({ path: '/b', address: '10.0.0.2' });
    const waiting = bench.hooks.request(second);
    assert.ok(waiting instanceof Promise);
    bench.forward(first, 0);
    const response = await waiting;
    assert.equal(response?.headers.get('cache-status'), 'Gatewright; ttl=60; collapsed');
    await bench.send({ path: '/x', ...replyOf('max-age=60'), headers: { 'cache-control': 'no-cache' } });
    const third = bench.createCall({ path: '/c', address: '10.0.0.1' });
    assert.equal(await bench.hooks.request(third), undefined);
    const fourth = bench.createCall({ path: '/c', address: '10.0.0.2' });
    const alone = bench.hooks.request(fourth);
    bench.forward(third, 0);
    assert.equal(await alone, undefined, 'a response that is not public is not for another client');
  });

  test('requests do not wait for a response whose client is slow to read', async () => {
    const bench = createHttpCacheBench();
    const first = bench.createCall({ address: '10.0.0.1' });
    assert.equal(await bench.hooks.request(first), undefined);
    const waiting = bench.hooks.request(bench.createCall({ address: '10.0.0.2' }));
    assert.ok(waiting instanceof Promise);
    const headers = new HeaderList(['Cache-Control', 'public, max-age=60']);
    const response = new GatewayResponse(200, headers, noBody());
    assert.equal(bench.hooks.finalizeResponse(first, response), undefined);
    const capture = bench.hooks.captureBody(first, response)!;
    // Timers of waits keep no process alive.
    const alive = setInterval(() => undefined, 1000);
    capture.onPause!();
    assert.equal(await waiting, undefined);
    clearInterval(alive);
    capture.complete(Buffer.from('whole'));
    assert.equal((await bench.send({})).body, 'whole', 'the response is stored all the same');
  });

  test('a stale response is refreshed by one request at a time', async () => {
    const bench = createHttpCacheBench();
    await bench.send({ reply: cc('max-age=10, stale-while-revalidate=60') });
    bench.time.ms += 20_000;
    const one = bench.createCall({});
    const two = bench.createCall({});
    for (const call of [one, two]) assert.ok(await bench.hooks.request(call));
    assert.ok(one.background);
    assert.equal(two.background, undefined);
    bench.forward(one.background, 0);
    bench.hooks.onFinish(one.background);
    assert.equal((await bench.send({})).headers['x-gw-cached-response'], '1');
  });
});

describe('HTTP caching: purge', () => {
  test('a purge between a request and its response prevents storage', async () => {
    const bench = createHttpCacheBench();
    await bench.send({ path: '/x', reply: cc('public, max-age=60') });
    const call = bench.createCall({ path: '/b' });
    assert.equal(await bench.hooks.request(call), undefined);
    await bench.responseCache.purgeApi('api');
    bench.forward(call, 0);
    bench.hooks.onFinish(call);
    assert.equal((await bench.send({ path: '/b' })).requests, 1);
    assert.equal((await bench.send({ path: '/x' })).requests, 1);
  });
});

test('HTTP dates: what is written as an IMF-fixdate is parsed to the same second', () => {
  for (const ms of [0, 951_782_400_000, caseStartMs, 4_102_444_799_000])
    assert.equal(parseCacheDate(new Date(ms).toUTCString(), caseStartMs), ms);
});

describe('structured dictionaries (RFC 9651)', () => {
  const valid: Record<string, unknown> = {
    'a=1, b=?0, c, d="x\\"y", e=tok/en, f=1.5, g=:YQ==:': [1, false, true, 'x"y', 'tok/en', 1.5, 'YQ=='],
    'a=(1 "b" c);x, b=2': [undefined, 2],
    'a=-15;p=1;q="z"': [-15],
    '  a=1 ,\t b=2  ': [1, 2],
    'a=()': [undefined],
    '': [],
  };
  for (const [text, values] of Object.entries(valid))
    test(`valid: ${text || '(empty)'}`, () =>
      assert.deepEqual(
        [...(parseStructuredDictionary(text) ?? assert.fail('malformed'))].map(([, it]) =>
          'value' in it ? it.value : undefined,
        ),
        values,
      ));

  const invalid = [
    'a=',
    'a=1,',
    ',a',
    'A=1',
    'a==1',
    'a=1 b=2',
    'a="x',
    'a=1.',
    'a=1.2345',
    'a=1234567890123456',
    'a=(1',
    'a=(1"b")',
    'a=?2',
    'a=1;',
    'a="\u00e9"',
    '1=a',
    `a="${'x'.repeat(9000)}"`,
  ];
  for (const text of invalid)
    test(`invalid: ${text.slice(0, 30)}`, () => assert.equal(parseStructuredDictionary(text), undefined));

  test('any text is parsed in time linear to its length, and never throws', () => {
    const pieces = constantFrom('a', '=', '"', '(', ')', ';', ',', ' ', '\\', '1', '.', '?', ':', '-', '\t', 'é');
    holds(
      property(array(pieces, { maxLength: 60 }), parts => void parseStructuredDictionary(parts.join(''))),
      {
        numRuns: 2000,
      },
    );
  });
});
