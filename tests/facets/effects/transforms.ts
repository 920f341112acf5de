import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import { eventually } from '../../support/upstream.ts';
import type { Effect, Served } from '../effect.ts';

/** What is changed of calls and answers on their way. */
const version = (more: JsonObject) => ({ version_data: { versions: { Default: more } } });
const lists = (extended_paths: JsonObject) => version({ use_extended_paths: true, extended_paths });
const operation = (feature: JsonObject) => ({ x: { middleware: { operations: { getThing: feature } } } });
const place = { path: '/thing', method: 'GET', disabled: false };
const global = (more: JsonObject) => ({ x: { middleware: { global: more } } });
const upstreamGot = async ({ call, upstream }: Served, path = '/thing', headers: Record<string, string> = {}) => {
  await call(path, { headers });
  return upstream.requests.at(-1)!;
};
const pair = [{ name: 'X-Set', value: 'yes' }];

/** The newest line of the log of calls. */
const waitForLogs = ({ app, id }: Served) =>
  eventually(async () => {
    const { body } = await app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${id}`);
    assert.ok(body.data[0]);
    return body.data[0];
  });

export const transforms: readonly Effect[] = [
  {
    rows: 'requestHeaders.enabled,remove,add contextVariables.enabled',
    promise: 'global request headers are changed, with context variables',
    classic: () => ({
      enable_context_vars: true,
      ...version({
        global_headers_disabled: false,
        global_headers_remove: ['X-Gone'],
        global_headers: { 'X-Set': '$gw_context.path_parts' },
      }),
    }),
    oas: () =>
      global({
        contextVariables: { enabled: true },
        transformRequestHeaders: {
          enabled: true,
          remove: ['X-Gone'],
          add: [{ name: 'X-Set', value: '$gw_context.path_parts' }],
        },
      }),
    async observe(at) {
      const { headers } = await upstreamGot(at, '/any', { 'x-gone': '1' });
      assert.deepEqual([headers['x-gone'], headers['x-set']], [undefined, `${at.id},any`]);
    },
  },
  {
    rows: 'responseHeaders.enabled,remove,add',
    promise: 'global response headers are changed',
    classic: () =>
      version({
        global_response_headers_disabled: false,
        global_response_headers_remove: ['content-TYPE'],
        global_response_headers: { 'X-Set': 'yes' },
      }),
    oas: () => global({ transformResponseHeaders: { enabled: true, remove: ['content-TYPE'], add: pair } }),
    async observe({ call }) {
      const { headers } = await call('/any');
      assert.deepEqual([headers.get('content-type'), headers.get('x-set')], [null, 'yes']);
    },
  },
  {
    rows: 'responseProcessors.list,list[].name,list[].options',
    promise: 'response processors change responses',
    classic: () => ({
      response_processors: [{ name: 'header_injector', options: { add_headers: { 'X-Set': 'yes' } } }],
    }),
    async observe({ call }) {
      assert.equal((await call()).headers.get('x-set'), 'yes');
    },
  },
  {
    rows: 'version.responseHeadersKept',
    promise: 'disabled global response headers are not set, also by processors',
    classic: () => ({
      response_processors: [{ name: 'header_injector', options: { add_headers: { 'X-Set': 'yes' } } }],
      ...version({ global_response_headers_disabled: true }),
    }),
    async observe({ call }) {
      const { status, headers } = await call();
      assert.deepEqual([status, headers.get('x-set')], [200, null]);
    },
  },
  {
    rows: 'endpoints.transformRequestHeaders.path,method,enabled,remove,add',
    promise: 'request headers of an endpoint are changed',
    classic: () =>
      lists({
        transform_headers: [{ ...place, delete_headers: ['x-gone'], add_headers: { 'X-Set': 'yes' } }],
      }),
    oas: () => operation({ transformRequestHeaders: { enabled: true, remove: ['x-gone'], add: pair } }),
    async observe(at) {
      const fetchForwardedHeaders = async (path: string) => {
        const { headers } = await upstreamGot(at, path, { 'X-Gone': '1' });
        return [headers['x-gone'], headers['x-set']];
      };
      assert.deepEqual(await fetchForwardedHeaders('/thing'), [undefined, 'yes']);
      assert.deepEqual(await fetchForwardedHeaders('/other'), ['1', undefined]);
    },
  },
  {
    rows: 'endpoints.transformResponseHeaders.path,method,enabled,remove,add',
    promise: 'response headers of an endpoint are changed',
    classic: () =>
      lists({
        transform_response_headers: [{ ...place, delete_headers: ['Content-Type'], add_headers: { 'X-Set': 'yes' } }],
      }),
    oas: () => operation({ transformResponseHeaders: { enabled: true, remove: ['Content-Type'], add: pair } }),
    async observe({ call }) {
      const here = (await call()).headers;
      assert.deepEqual([here.get('content-type'), here.get('x-set')], [null, 'yes']);
      const there = (await call('/other')).headers;
      assert.deepEqual([there.get('content-type'), there.get('x-set')], ['application/json', null]);
    },
  },
  {
    rows: 'endpoints.urlRewrite.path,method,enabled,pattern,rewriteTo,triggers',
    promise: 'URLs are rewritten',
    classic: () =>
      lists({
        url_rewrites: [
          {
            ...place,
            match_pattern: '/(th)ing',
            rewrite_to: '/else/$1',
            triggers: [
              { on: 'any', rewrite_to: '/beta', options: { header_matches: { 'X-Beta': { match_rx: '.' } } } },
            ],
          },
        ],
      }),
    oas: () =>
      operation({
        urlRewrite: {
          enabled: true,
          pattern: '/(th)ing',
          rewriteTo: '/else/$1',
          triggers: [{ condition: 'any', rewriteTo: '/beta', rules: [{ in: 'header', name: 'X-Beta', pattern: '.' }] }],
        },
      }),
    async observe(at) {
      assert.equal((await upstreamGot(at)).url, '/else/th');
      assert.equal((await upstreamGot(at, '/thing', { 'x-beta': '1' })).url, '/beta');
    },
  },
  {
    rows: 'endpoints.transformRequestMethod.path,method,enabled,toMethod',
    promise: 'the upstream receives another method',
    classic: () => lists({ method_transforms: [{ ...place, to_method: 'PUT' }] }),
    oas: () => operation({ transformRequestMethod: { enabled: true, toMethod: 'PUT' } }),
    async observe(at) {
      assert.equal((await upstreamGot(at)).method, 'PUT');
      assert.equal((await upstreamGot(at, '/other')).method, 'GET');
    },
  },
  {
    rows: 'trafficLogs.enabled,tagHeaders detail.recording',
    promise: 'records have tags from headers, and request and response',
    classic: () => ({ do_not_track: false, tag_headers: ['X-Team'], enable_detailed_recording: true }),
    oas: () => ({
      x: {
        middleware: { global: { trafficLogs: { enabled: true, tagHeaders: ['X-Team'] } } },
        server: { detailedActivityLogs: { enabled: true } },
      },
    }),
    async observe(at) {
      await at.call('/thing', { headers: { 'x-team': 'blue' } });
      const { tags, raw_request } = await waitForLogs(at);
      assert.ok(tags.includes('x-team-blue'));
      assert.match(Buffer.from(raw_request, 'base64').toString(), /x-team: blue/);
    },
  },
];
