import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { JsonObject } from '#base/json-tree.ts';
import { lists, requireKeyClassic, requireKeyOas } from '../definitions.ts';
import type { Effect, Served } from '../effect.ts';

/** Bodies that templates replace, of requests and responses. */

interface Way {
  readonly name: 'transformRequestBody' | 'transformResponseBody';
  readonly list: string;
  /** What came out at the other end of a body that went in. */
  result(at: Served, body: string, headers?: Record<string, string>, path?: string): Promise<string>;
}

const createRequest = (method: string, headers: Record<string, string>, body: string) => ({ method, headers, body });
const ways: readonly Way[] = [
  {
    name: 'transformRequestBody',
    list: 'transform',
    async result({ call, upstream }, body, headers = {}, path = '/thing') {
      assert.equal((await call(path, createRequest('POST', headers, body))).status, 200);
      return upstream.requests.at(-1)!.body;
    },
  },
  {
    name: 'transformResponseBody',
    list: 'transform_response',
    async result({ call, upstream }, body, headers = {}, path = '/thing') {
      upstream.answer = (_request, response) => response.end(body);
      return (await call(path, createRequest('POST', headers, ''))).text;
    },
  },
];

const base64 = (text: string) => Buffer.from(text).toString('base64');
const classic = ({ list }: Way, template_data: JsonObject) =>
  lists({ [list]: [{ path: '/thing', method: 'POST', disabled: false, template_data }] });
const oas = ({ name }: Way, feature: JsonObject) => ({
  paths: { '/thing': { post: { operationId: 'postThing', responses: {} } } },
  x: { middleware: { operations: { postThing: { [name]: { enabled: true, ...feature } } } } },
});

const xml = '<r><name>Ann</name></r>';

export const bodies: readonly Effect[] = ways.flatMap((way): Effect[] => [
  {
    rows: `endpoints.${way.name}.path,method,enabled,format,mode,source,body`,
    promise: 'the body of an endpoint is transformed by a template',
    classic: () =>
      classic(way, { input_type: 'xml', template_mode: 'blob', template_source: base64('now: {{.r.name}}') }),
    oas: () => oas(way, { format: 'xml', body: base64('now: {{.r.name}}') }),
    async observe(at) {
      assert.equal(await way.result(at, xml), 'now: Ann');
      assert.equal(await way.result(at, xml, {}, '/other'), xml);
    },
  },
  {
    rows: `endpoints.${way.name}.mode,source,file`,
    promise: 'the template can be a file',
    settings: { 'templates.directory': join(import.meta.dirname, '../templates') },
    classic: () => classic(way, { input_type: 'json', template_mode: 'file', template_source: 'thing.tmpl' }),
    oas: () => oas(way, { format: 'json', path: 'thing.tmpl' }),
    async observe(at) {
      assert.equal(await way.result(at, '{"name":"Ann"}'), 'from a file: Ann');
    },
  },
  {
    rows: `endpoints.${way.name}.enableSession`,
    promise: 'the template reads the metadata of the key',
    classic: () =>
      requireKeyClassic(classic(way, { template_source: base64('{{._gw_meta.team}}'), enable_session: true })),
    oas: () => {
      const { paths, x } = oas(way, { format: 'json', body: base64('{{._gw_meta.team}}') });
      return { ...requireKeyOas({ x }), paths };
    },
    async observe(at) {
      const authorization = await at.key({ meta_data: { team: 'blue' } });
      assert.equal(await way.result(at, '{}', { authorization }), 'blue');
      if (at.format !== 'classic') return;
      await at.change(classic(way, { template_source: base64('{{._gw_meta.team}}'), enable_session: false }));
      assert.doesNotMatch(await way.result(at, '{}', { authorization }), /blue/);
    },
  },
]);

const createFilter = (list: string, filter: string) =>
  lists({ [list]: [{ path: '/thing', method: 'POST', disabled: false, filter }] });

export const filters: readonly Effect[] = ways.map(({ name, result }): Effect => {
  const [facet, list] =
    name === 'transformRequestBody'
      ? ['transformJq', 'transform_jq']
      : ['transformJqResponse', 'transform_jq_response'];
  return {
    rows: `endpoints.${facet}.path,method,enabled,filter`,
    promise: 'the body of an endpoint is transformed by a jq filter',
    classic: () => createFilter(list!, '{body: [.body.name]}'),
    async observe(at) {
      assert.equal(await result(at, '{"name":"Ann"}'), '["Ann"]');
      assert.equal(await result(at, '{"name":"Ann"}', {}, '/other'), '{"name":"Ann"}');
      await at.change(lists({ [list!]: [{ path: '/thing', method: 'POST', disabled: true, filter: '{body: 1}' }] }));
      assert.equal(await result(at, '{"name":"Ann"}'), '{"name":"Ann"}');
    },
  };
});
