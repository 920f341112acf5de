import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import { eventually } from '../../support/upstream.ts';
import { calls, global, requireKeyClassic, requireKeyOas, snake, statusOf } from '../definitions.ts';
import type { Effect, Served } from '../effect.ts';

/** CORS, batch requests, error overrides, events and logs. */

const cors = (rules: JsonObject): Pick<Effect, 'classic' | 'oas'> => {
  const { enabled, ...others } = rules;
  return {
    classic: () => ({ CORS: { enable: enabled, ...snake(others) } }),
    oas: () => global({ cors: rules }),
  };
};
/** CORS headers of the response, by name without their prefix. */
async function fetchCorsHeaders(
  { call }: Served,
  method: string,
  headers: Record<string, string>,
): Promise<JsonObject> {
  const answer = await call('/thing', { method, headers });
  const named = [...answer.headers].filter(([name]) => name.startsWith('access-control-'));
  return Object.fromEntries(named.map(([name, value]) => [name.slice('access-control-'.length), value]));
}
const preflight = (origin: string, method: string, header: string) => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': header,
});

export const pages: readonly Effect[] = [
  {
    rows: 'cors.enabled,allowedOrigins,allowedMethods,allowedHeaders,exposedHeaders,allowCredentials,maxAge',
    promise: 'CORS headers are sent to allowed origins',
    ...cors({
      enabled: true,
      allowedOrigins: ['https://a.example'],
      allowedMethods: ['GET', 'PATCH'],
      allowedHeaders: ['X-One'],
      exposedHeaders: ['X-Seen'],
      allowCredentials: true,
      maxAge: 24,
    }),
    async observe(at) {
      const permitted = { 'allow-origin': 'https://a.example', 'allow-credentials': 'true' };
      assert.deepEqual(await fetchCorsHeaders(at, 'OPTIONS', preflight('https://a.example', 'PATCH', 'x-one')), {
        ...permitted,
        'allow-methods': 'PATCH',
        'allow-headers': 'x-one',
        'max-age': '24',
      });
      assert.equal(at.upstream.requests.length, 0);
      assert.deepEqual(await fetchCorsHeaders(at, 'OPTIONS', preflight('https://b.example', 'PATCH', 'x-one')), {});
      assert.deepEqual(await fetchCorsHeaders(at, 'OPTIONS', preflight('https://a.example', 'POST', 'x-one')), {});
      assert.deepEqual(await fetchCorsHeaders(at, 'OPTIONS', preflight('https://a.example', 'PATCH', 'x-two')), {});
      assert.deepEqual(await fetchCorsHeaders(at, 'GET', { origin: 'https://a.example' }), {
        ...permitted,
        'expose-headers': 'X-Seen',
      });
    },
  },
  {
    rows: 'cors.optionsPassthrough',
    promise: 'preflight requests are passed to the upstream',
    ...cors({ enabled: true, optionsPassthrough: true }),
    async observe(at) {
      await fetchCorsHeaders(at, 'OPTIONS', preflight('https://a.example', 'PATCH', 'x-one'));
      assert.equal(at.upstream.requests.at(-1)?.method, 'OPTIONS');
    },
  },
  {
    rows: 'cors.debug',
    promise: 'CORS decisions are logged',
    ...cors({ enabled: true, debug: true }),
    async observe(at) {
      await fetchCorsHeaders(at, 'GET', { origin: 'https://a.example' });
      await eventually(() => assert.match(at.logged.join(''), new RegExp(`"api":"${at.id}".*https://a\\.example`)));
    },
  },
  {
    rows: 'batch.enabled',
    promise: 'batch requests are accepted',
    classic: () => ({ enable_batch_request_support: true }),
    oas: () => ({ x: { server: { batchProcessing: { enabled: true } } } }),
    async observe({ call }) {
      const requests = [{ relative_url: 'a' }, { relative_url: 'b', method: 'PUT' }];
      const { status, body } = await call('/gw/batch/', { method: 'POST', body: JSON.stringify({ requests }) });
      assert.equal(status, 200);
      const urls = (body as { body: string }[]).map(one => JSON.parse(one.body)).map(it => `${it.method} ${it.url}`);
      assert.deepEqual(urls, ['GET /a', 'PUT /b']);
    },
  },
  {
    rows: 'errorOverrides.enabled,rules',
    promise: 'error responses are overridden',
    classic: () => ({
      error_overrides_disabled: false,
      error_overrides: { '404': [{ response: { status_code: 410, body: 'gone' } }] },
    }),
    oas: () => ({
      x: { errorOverrides: { enabled: true, value: { '404': [{ response: { statusCode: 410, body: 'gone' } }] } } },
    }),
    async observe({ call, upstream }) {
      upstream.answer = (request, response) => response.writeHead(Number(request.url!.slice(1))).end('as it was');
      const fetchAnswer = async (path: string) => {
        const { status, text } = await call(path);
        return [status, text];
      };
      assert.deepEqual(
        [await fetchAnswer('/404'), await fetchAnswer('/403')],
        [
          [410, 'gone'],
          [403, 'as it was'],
        ],
      );
    },
  },
  {
    rows: 'events.handlers',
    promise: 'a webhook is called on an event',
    classic: ({ upstream }) => {
      const handler_meta = { method: 'PUT', target_path: `${upstream.url}/hook`, header_map: { 'x-own': 'mine' } };
      return requireKeyClassic({
        event_handlers: { events: { AuthFailure: [{ handler_name: 'eh_web_hook_handler', handler_meta }] } },
      });
    },
    oas: ({ upstream }) => {
      const url = `${upstream.url}/hook`;
      const hook = { enabled: true, trigger: 'AuthFailure', type: 'webhook', name: 'hook', url, method: 'PUT' };
      const eventHandlers = [{ ...hook, headers: [{ name: 'x-own', value: 'mine' }] }];
      return requireKeyOas({ x: { server: { eventHandlers } } });
    },
    async observe(at) {
      await statusOf(at, '/thing', { authorization: 'nobody' });
      await eventually(() => {
        const [{ method, url, headers, body } = assert.fail('no notification was sent')] = at.upstream.requests;
        assert.deepEqual([method, url, headers['x-own']], ['PUT', '/hook', 'mine']);
        assert.match(body, /AuthFailure/);
      });
    },
  },
  {
    rows: 'trafficLogs.retentionSeconds',
    promise: 'records are kept as long as the API says',
    classic: () => ({ expire_analytics_after: 3600 }),
    oas: () => global({ trafficLogs: { enabled: true, customRetentionPeriod: '1h' } }),
    async observe(at) {
      await statusOf(at);
      const { timestamp, expireAt } = (await calls(at))[0]!;
      const seconds = (Date.parse(expireAt) - Date.parse(timestamp)) / 1000;
      assert.ok(Math.abs(seconds - 3600) < 60, expireAt);
    },
  },
];
