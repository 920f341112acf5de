import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { openApi, publish } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Variables of GraphQL requests that try to exhaust the gateway. */

const schema = `input Node { next: Node list: [Node] text: String } scalar JSON
  type Query { find(node: Node, any: JSON, texts: [String], numbers: [[Int]]): String }`;
const document = `query Find($node: Node, $any: JSON, $texts: [String], $numbers: [[Int]]) {
  find(node: $node, any: $any, texts: $texts, numbers: $numbers) }`;

const nest = (depth: number, open: string, inner: string, close: string) =>
  open.repeat(depth) + inner + close.repeat(depth);

/** Texts of the member `variables`, with the statuses that end the request. */
const hostile: Readonly<Record<string, { variables: string; statuses: readonly number[] }>> = {
  'an input object of 100,000 levels': {
    variables: `{"node":${nest(100_000, '{"next":', 'null', '}')}}`,
    statuses: [400, 413],
  },
  'a list of 100,000 levels in a scalar': {
    variables: `{"any":${nest(100_000, '[', '', ']')}}`,
    statuses: [400, 413],
  },
  'a list of a million numbers': {
    variables: `{"numbers":[${Array.from({ length: 1000 }, () => `[${'1,'.repeat(999)}1]`).join()}]}`,
    statuses: [400, 413],
  },
  '300,000 unknown members': {
    variables: `{${Array.from({ length: 300_000 }, (_, n) => `"v${n}":1`).join()}}`,
    statuses: [400, 413],
  },
  '150,000 wrong values': {
    variables: `{"texts":[${'1,'.repeat(150_000)}1]}`,
    statuses: [400, 413],
  },
  'a text above the bound of buffered bodies': {
    variables: `{"texts":["${'x'.repeat(11_000_000)}"]}`,
    statuses: [413],
  },
  'a number of a million digits': { variables: `{"any":${'9'.repeat(1_000_000)}}`, statuses: [200, 400, 413] },
  'a member that would set a prototype': {
    variables: '{"any":{"__proto__":{"polluted":true}},"node":{"__proto__":{"text":"x"}}}',
    statuses: [400],
  },
};

describe('Hostile GraphQL variables', () => {
  let app: TestApp;
  let upstream: Upstream;
  let other: string;
  const urls: Record<string, string> = {};
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
    other = await publish(app, openApi(upstream));
    const block = { enabled: true, version: '2', schema };
    const source = {
      kind: 'REST',
      name: 'find',
      root_fields: [{ type: 'Query', fields: ['find'] }],
      config: { url: `${upstream.url}/source`, method: 'POST', body: '{{ .arguments.node }}' },
    };
    const engine = {
      data_sources: [source],
      field_configs: [{ type_name: 'Query', field_name: 'find', disable_default_mapping: true, path: [] }],
    };
    const kinds = {
      proxy: { ...block, execution_mode: 'proxyOnly' },
      'data graph': { ...block, execution_mode: 'executionEngine', engine },
    };
    for (const [kind, graphql] of Object.entries(kinds))
      urls[kind] = await publish(app, openApi(upstream, { graphql }));
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  for (const kind of ['proxy', 'data graph'])
    for (const [name, { variables, statuses }] of Object.entries(hostile))
      test(`${name} (${kind}): the request ends with ${statuses.join(' or ')}, while other APIs are served`, async () => {
        const body = `{"query":${JSON.stringify(document)},"variables":${variables}}`;
        const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
        const attacks = Array.from({ length: 3 }, async () => {
          const reply = await fetch(urls[kind]!, init);
          return { status: reply.status, text: (await reply.text()).slice(0, 300) };
        });
        assert.equal((await fetch(other)).status, 200);
        for (const { status, text } of await Promise.all(attacks))
          assert.ok(statuses.includes(status), `${status}: ${text}`);
        assert.equal((await fetch(other)).status, 200);
        assert.equal(({} as Record<string, unknown>).polluted, undefined);
      });
});
