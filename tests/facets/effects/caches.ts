import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import { eventually } from '../../support/upstream.ts';
import { global, lists } from '../definitions.ts';
import type { Effect, Served } from '../effect.ts';

/** What is kept of answers. */

type Ask = RequestInit & { path?: string };
/** Whether the answer to a call was kept. */
const isKept = async ({ call }: Served, { path, ...init }: Ask = {}) =>
  (await call(path, init)).headers.get('x-gw-cached-response') === '1';
/** Keeping takes its time, which is the gateway's own affair. */
const becomesKept = (at: Served, ask?: Ask, kept = true) =>
  eventually(async () => assert.equal(await isKept(at, ask), kept));
/** Once a later request is cached, this one would be. */
async function isNotKept(at: Served, ask: Ask, later?: Ask): Promise<void> {
  await at.call(ask.path, ask);
  if (later) await becomesKept(at, later);
  assert.equal(await isKept(at, ask), false);
}

const classicOptions = {
  enabled: 'enable_cache',
  mode: 'mode',
  timeout: 'cache_timeout',
  cacheAllSafeRequests: 'cache_all_safe_requests',
  cacheResponseCodes: 'cache_response_codes',
  cacheByHeaders: 'cache_by_headers',
  enableUpstreamCacheControl: 'enable_upstream_cache_control',
  controlTTLHeaderName: 'cache_control_ttl_header',
} as const;
const cacheOptions = (options: JsonObject) => ({
  cache_options: Object.fromEntries(
    Object.entries(options).map(([name, value]) => [classicOptions[name as keyof typeof classicOptions], value]),
  ),
});
const saying = (options: JsonObject): Pick<Effect, 'classic' | 'oas'> => ({
  classic: () => cacheOptions(options),
  oas: () => global({ cache: options }),
});
const changing = ({ format }: Served, options: JsonObject): JsonObject =>
  format === 'classic' ? cacheOptions(options) : global({ cache: options }).x;

/** What is kept of POST /thing, for so many seconds. */
const keeping = (timeout: number) => {
  const [cacheByRegex, cacheResponseCodes] = ['id=[0-9]+', [201]];
  const entry = { timeout, cache_key_regex: cacheByRegex, cache_response_codes: cacheResponseCodes };
  return {
    classic: lists({ advance_cache_config: [{ path: '/thing', method: 'POST', disabled: false, ...entry }] }),
    oas: { operations: { postThing: { cache: { enabled: true, timeout, cacheByRegex, cacheResponseCodes } } } },
  };
};

export const caches: readonly Effect[] = [
  {
    rows: 'cache.enabled,timeout,cacheAllSafeRequests,cacheResponseCodes,cacheByHeaders',
    promise: 'responses with listed statuses are cached for the timeout, per listed headers',
    ...saying({
      enabled: true,
      timeout: 60,
      cacheAllSafeRequests: true,
      cacheResponseCodes: [201],
      cacheByHeaders: ['X-Lang'],
    }),
    async observe(at) {
      at.upstream.answer = (request, response) => response.writeHead(request.url === '/created' ? 201 : 200).end();
      const askCreated = (lang: string): Ask => ({ path: '/created', headers: { 'x-lang': lang } });
      await becomesKept(at, askCreated('de'));
      assert.equal(await isKept(at, askCreated('en')), false);
      await isNotKept(at, { path: '/thing' }, askCreated('fr'));
      await at.change(changing(at, { timeout: 1 }));
      await becomesKept(at, askCreated('de'));
      await becomesKept(at, askCreated('de'), false);
      await at.change(changing(at, { cacheAllSafeRequests: false }));
      for (let n = 0; n < 3; n++) assert.equal(await isKept(at, askCreated('de')), false);
    },
  },
  {
    rows: 'cache.mode',
    promise: 'responses are cached by their own headers, and validated when they are stale',
    ...saying({ enabled: true, mode: 'http', cacheAllSafeRequests: true }),
    async observe(at) {
      at.upstream.answer = (request, response) => {
        const control = request.url === '/long' ? 'max-age=60' : 'max-age=0';
        const isMatch = request.headers['if-none-match'] === '"a"';
        response.writeHead(isMatch ? 304 : 200, { 'cache-control': control, etag: '"a"' }).end(isMatch ? '' : 'body');
      };
      await becomesKept(at, { path: '/long' });
      await eventually(async () => {
        const reply = await at.call('/short');
        assert.equal(reply.headers.get('x-gw-cached-response'), 'validated');
        assert.equal(reply.text, 'body');
      });
      await at.change(changing(at, { mode: 'timed', timeout: 60 }));
      await isNotKept(at, { path: '/short' }, { path: '/long' });
    },
  },
  {
    rows: 'cache.enableUpstreamCacheControl,controlTTLHeaderName',
    promise: 'the upstream controls caching by a configured header',
    ...saying({
      enabled: true,
      timeout: 1,
      cacheAllSafeRequests: true,
      enableUpstreamCacheControl: true,
      controlTTLHeaderName: 'X-Keep',
    }),
    async observe(at) {
      at.upstream.answer = (request, response) => {
        const seconds = { '/long': '3000', '/never': '0' }[request.url ?? ''];
        response.writeHead(200, seconds ? { 'x-gw-cache-action-set': '1', 'x-keep': seconds } : {}).end();
      };
      await becomesKept(at, { path: '/long' });
      await isNotKept(at, { path: '/silent' }, { path: '/long' });
      await isNotKept(at, { path: '/never' }, { path: '/long' });
    },
  },
  {
    rows: 'endpoints.cache.path,method,enabled,timeout,cacheByRegex,cacheResponseCodes',
    promise: 'responses of one endpoint are cached, keyed by a part of the body',
    classic: () => ({ ...cacheOptions({ enabled: true }), ...keeping(60).classic }),
    oas: () => ({
      paths: { '/thing': { post: { operationId: 'postThing', responses: {} } } },
      x: { middleware: { global: { cache: { enabled: true } }, ...keeping(60).oas } },
    }),
    async observe(at) {
      at.upstream.answer = (_request, response, body) => response.writeHead(body.includes('odd') ? 200 : 201).end();
      const postAsk = (body: string, path = '/thing'): Ask => ({ path, method: 'POST', body });
      await becomesKept(at, postAsk('id=1 once'));
      assert.equal(await isKept(at, postAsk('id=1 again')), true);
      assert.equal(await isKept(at, postAsk('id=2 once')), false);
      await isNotKept(at, postAsk('id=3 odd'), postAsk('id=4'));
      await isNotKept(at, postAsk('id=1 once', '/other'), postAsk('id=5'));
      const { classic, oas } = keeping(1);
      await at.change(at.format === 'classic' ? classic : { middleware: oas });
      await becomesKept(at, postAsk('id=1 once'));
      await becomesKept(at, postAsk('id=1 once'), false);
    },
  },
  {
    rows: 'version.cachedPaths',
    promise: 'safe requests to listed paths are cached',
    classic: () => ({ ...cacheOptions({ enabled: true, timeout: 60 }), ...lists({ cache: ['/thing'] }) }),
    async observe(at) {
      await becomesKept(at);
      await isNotKept(at, { path: '/other' });
      assert.equal(await isKept(at, { method: 'POST' }), false);
    },
  },
];
