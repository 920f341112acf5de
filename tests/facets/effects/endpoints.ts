import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import {
  calls,
  global,
  lists,
  operation,
  place,
  requireKeyClassic,
  requireKeyOas,
  statuses,
  statusOf,
  version,
} from '../definitions.ts';
import type { Effect, Served } from '../effect.ts';

/** Which endpoints are open, closed, inside, counted and limited. */

/** The three lists of access: what each does with a call to its endpoint, and with one to another. */
const access = {
  ignoreAuthentication: { list: 'ignored', here: 200, there: 401, promise: 'an endpoint needs no authentication' },
  block: { list: 'black_list', here: 403, there: 200, promise: 'an endpoint is blocked' },
  allow: { list: 'white_list', here: 200, there: 403, promise: 'only allowed endpoints are served' },
} as const;

const accessEffects = Object.entries(access).flatMap(([name, { list, here, there, promise }]): Effect[] => {
  const guards = name === 'ignoreAuthentication';
  const classic = (entry: JsonObject) => ({ ...(guards ? requireKeyClassic() : {}), ...lists({ [list]: [entry] }) });
  return [
    {
      rows: `endpoints.${name}.path,method,enabled,ignoreCase`,
      promise,
      classic: () => classic({ ...place, ignore_case: true }),
      oas: () => {
        const oas = operation({ [name]: { enabled: true, ignoreCase: true } });
        return guards ? requireKeyOas(oas) : oas;
      },
      async observe(at) {
        assert.deepEqual([await statusOf(at, '/thing'), await statusOf(at, '/THING')], [here, here]);
        assert.deepEqual([await statusOf(at, '/other'), await statusOf(at, '/thing', {}, 'PUT')], [there, there]);
      },
    },
    {
      rows: `endpoints.${name}.methodActions`,
      promise: `${promise}, by method actions`,
      classic: () => {
        const reply = { action: 'reply', code: 418, data: 'tea', headers: { 'x-pot': 'yes' } };
        const method_actions = { GET: { action: 'no_action' }, PATCH: reply };
        return classic({ path: '/thing', method_actions });
      },
      async observe(at) {
        assert.deepEqual([await statusOf(at, '/thing'), await statusOf(at, '/thing', {}, 'PUT')], [here, there]);
        const authorization = guards ? await at.key() : '';
        const { status, text, headers } = await at.call('/thing', { method: 'PATCH', headers: { authorization } });
        assert.deepEqual([status, text, headers.get('x-pot')], [418, 'tea', 'yes']);
      },
    },
  ];
});

const olderLists = {
  pathsIgnored: ['ignored', 200, 401],
  pathsAllowed: ['white_list', 200, 403],
  pathsBlocked: ['black_list', 403, 200],
} as const;
const olderEffects = Object.entries(olderLists).map(
  ([name, [list, here, there]]): Effect => ({
    rows: `version.${name},useExtendedPaths`,
    promise: 'legacy path lists apply unless extended paths are used',
    classic: () => ({
      ...(name === 'pathsIgnored' ? requireKeyClassic() : {}),
      ...version({ use_extended_paths: false, paths: { [list]: ['/thing'] } }),
    }),
    async observe(at) {
      assert.deepEqual([await statusOf(at, '/thing'), await statusOf(at, '/other')], [here, there]);
      await at.change(version({ use_extended_paths: true }));
      const without = name === 'pathsIgnored' ? 401 : 200;
      assert.deepEqual([await statusOf(at, '/thing'), await statusOf(at, '/other')], [without, without]);
    },
  }),
);

const callPaths = async (at: Served) => {
  for (const path of ['/thing?a=1', '/other/1']) assert.equal(await statusOf(at, path), 200);
};

/** For the rest of an hour. */
async function asksForPatience({ call }: Served): Promise<void> {
  const seconds = Number((await call()).headers.get('retry-after'));
  assert.ok(seconds > 3000 && seconds <= 3600, String(seconds));
}

export const endpoints: readonly Effect[] = [
  ...accessEffects,
  ...olderEffects,
  {
    rows: 'version.ignoreCase',
    promise: 'paths of endpoint lists match case-insensitively',
    classic: () => version({ ignore_endpoint_case: true, extended_paths: { black_list: [place] } }),
    oas: () => ({
      x: {
        middleware: {
          operations: { getThing: { block: { enabled: true } } },
          global: { ignoreCase: { enabled: true } },
        },
      },
    }),
    async observe(at) {
      assert.deepEqual([await statusOf(at, '/THING'), await statusOf(at, '/other')], [403, 200]);
    },
  },
  {
    rows: 'endpoints.internal.path,method,enabled',
    promise: 'an endpoint is internal',
    classic: () =>
      lists({
        internal: [place],
        url_rewrites: [{ path: '/in', method: 'GET', match_pattern: '.*', rewrite_to: 'gw://self/thing' }],
      }),
    oas: () => ({
      paths: { '/in': { get: { operationId: 'in', responses: {} } } },
      x: {
        middleware: {
          operations: {
            getThing: { internal: { enabled: true } },
            in: { urlRewrite: { enabled: true, pattern: '.*', rewriteTo: 'gw://self/thing' } },
          },
        },
      },
    }),
    async observe(at) {
      assert.deepEqual([await statusOf(at, '/thing'), await statusOf(at, '/thing', {}, 'PUT')], [403, 200]);
      assert.equal((await at.call('/in')).body.url, '/thing');
    },
  },
  {
    rows: 'endpoints.trackEndpoint.path,method,enabled',
    promise: 'requests are counted by the path template of their endpoint',
    classic: () => lists({ track_endpoints: [{ ...place, path: '/other/{id}' }] }),
    oas: () => ({
      paths: {
        '/other/{id}': {
          get: {
            operationId: 'other',
            parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
            responses: {},
          },
        },
      },
      x: {
        middleware: {
          operations: { other: { trackEndpoint: { enabled: true } } },
          global: { trafficLogs: { enabled: true } },
        },
      },
    }),
    async observe(at) {
      await callPaths(at);
      const found = (await calls(at, 2)).map(({ path, track_path }) => `${path} ${track_path}`);
      assert.deepEqual(found.sort(), ['/other/{id} true', '/thing false']);
    },
  },
  {
    rows: 'endpoints.doNotTrackEndpoint.path,method,enabled',
    promise: 'requests to an endpoint are omitted from analytics',
    classic: () => lists({ do_not_track_endpoints: [place] }),
    oas: () => ({
      x: {
        middleware: {
          operations: { getThing: { doNotTrackEndpoint: { enabled: true } } },
          global: { trafficLogs: { enabled: true } },
        },
      },
    }),
    async observe(at) {
      await callPaths(at);
      await statusOf(at, '/thing', {}, 'PUT');
      const found = (await calls(at, 2)).map(({ method, path }) => `${method} ${path}`);
      assert.deepEqual(found.sort(), ['GET /other/1', 'PUT /thing']);
    },
  },
  {
    rows: 'endpoints.rateLimit.path,method,enabled,rate,perSeconds',
    promise: 'an endpoint is rate limited',
    classic: () => lists({ rate_limit: [{ ...place, rate: 2, per: 3600 }] }),
    oas: () => operation({ rateLimit: { enabled: true, rate: 2, per: '1h' } }),
    async observe(at) {
      assert.deepEqual(await statuses(at, 3), [200, 200, 429]);
      await asksForPatience(at);
      assert.deepEqual(await statuses(at, 3, '/other'), [200, 200, 200]);
      assert.equal(await statusOf(at, '/thing', {}, 'PUT'), 200);
    },
  },
  {
    rows: 'rateLimit.enabled,rate,perSeconds',
    promise: 'the API takes so many calls in a period',
    classic: () => ({ global_rate_limit: { disabled: false, rate: 2, per: 3600 } }),
    oas: () => ({ x: { upstream: { rateLimit: { enabled: true, rate: 2, per: 'PT1H' } } } }),
    async observe(at) {
      assert.deepEqual([await statusOf(at, '/a'), await statusOf(at, '/b'), await statusOf(at, '/c')], [200, 200, 429]);
      await asksForPatience(at);
    },
  },
  {
    rows: 'skips.rateLimit,quota',
    promise: 'limits of keys do not count here',
    classic: () => requireKeyClassic({ disable_rate_limit: true, disable_quota: true }),
    oas: () => requireKeyOas(global({ skipRateLimit: true, skipQuota: true })),
    async observe(at) {
      const headers = { authorization: await at.key({ rate: 1, per: 3600, quota_max: 2, quota_renewal_rate: 3600 }) };
      assert.deepEqual(await statuses(at, 4, '/thing', headers), [200, 200, 200, 200]);
      await at.change(on(at, { disable_rate_limit: false }, { skipRateLimit: false }));
      assert.deepEqual(await statuses(at, 2, '/thing', headers), [200, 429]);
      await at.change(
        on(at, { disable_rate_limit: true, disable_quota: false }, { skipRateLimit: true, skipQuota: false }),
      );
      assert.deepEqual(await statuses(at, 3, '/thing', headers), [200, 200, 403]);
    },
  },
  {
    rows: 'skips.quotaReset',
    promise: 'a key that is written keeps what it has used of its quota',
    classic: () => requireKeyClassic({ dont_set_quota_on_create: true }),
    oas: () => requireKeyOas(global({ skipQuotaReset: true })),
    async observe(at) {
      const limits = { quota_max: 1, quota_renewal_rate: 3600 };
      const authorization = await at.key(limits);
      assert.deepEqual(await statuses(at, 2, '/thing', { authorization }), [200, 403]);
      const right = { api_id: at.id, api_name: at.id, versions: ['Default'] };
      const body = { access_rights: { [at.id]: right }, ...limits };
      const { status, text } = await at.app.ask('PUT', `/gw/keys/${authorization}`, { body });
      assert.equal(status, 200, text);
      assert.deepEqual(await statuses(at, 1, '/thing', { authorization }), [403]);
    },
  },
];

/** A change in the words of the form that is looked at. */
const on = ({ format }: Served, classic: JsonObject, oas: JsonObject): JsonObject =>
  format === 'classic' ? classic : { middleware: { global: oas } };
