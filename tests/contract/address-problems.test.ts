import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { problem as examplesProblem } from '#apis/examples/problems.ts';
import { problem as apis } from '#apis/problems.ts';
import { problem as proxy } from '#apis/proxy/problems.ts';
import { defaultOutboundBounds } from '#base/http-client/client.ts';
import { outboundProblem } from '#base/http-client/problems.ts';
import type { ProblemFactory } from '#base/problems.ts';
import { type Answer, type Asked, startApp, type TestApp } from '../support/app.ts';
import { openApi, waitUntilApplied } from '../support/traffic.ts';
import { expectProblem } from './expect-problem.ts';

/** Problems of fetching a file, through every operation that fetches one by its address. */

const largeBytes = 6_000_000;
let respond: (response: ServerResponse) => void = response => void response.end();
const server = createServer((_request, response) => respond(response));
let origin: string;
let app: TestApp;
let apiId: string;
let graphId: string;

before(async () => {
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { 'apis.examples_index': `${origin}/index.json`, 'gateway.url': `${origin}/` };
  app = await startApp('sqlite', { settings });
  const document = { openapi: '3.0.3', info: { title: 'A', version: '1' }, paths: {} };
  const made = await app.ask('POST', '/api/apis/oas/import?listenPath=/a/&upstreamURL=http://127.0.0.1:9/', {
    body: document,
  });
  assert.equal(made.status, 200, made.text);
  apiId = made.body.ID;
  const graphql = { enabled: true, schema: 'type Query { a: Int }' };
  const definition = { ...openApi({ url: origin }, { graphql }) };
  graphId = definition.api_id;
  assert.equal((await app.ask('POST', '/api/apis', { body: { api_definition: definition } })).status, 200);
});
after(async () => {
  await app?.close();
  server.closeAllConnections();
  server.close();
});

const importing: Readonly<Record<string, (url: string) => Promise<Answer>>> = {
  importDocument: url => app.ask('POST', '/api/apis/oas/import', { body: { url } }),
  importDataGraph: url => app.ask('POST', '/api/data-graphs/data-sources/import', { body: { url } }),
  convertDocument: url => app.ask('POST', '/api/apis/convert', { body: { url } }),
  patchDocument: url => app.ask('PATCH', `/api/apis/oas/${apiId}`, { body: { url } }),
};
const posting: Readonly<Record<string, (url: string) => Promise<Answer>>> = {
  updateGraphqlSchema: url => app.ask('POST', `/api/apis/${graphId}/graphql/schema`, { body: { url } }),
};
const header = (url: string) => ({ headers: { 'x-gw-examples-index': url } });
const examples: Readonly<Record<string, (url?: string) => Promise<Answer>>> = {
  listExamples: url => app.ask('GET', '/api/examples', url === undefined ? {} : header(url)),
  getExample: url => app.ask('GET', '/api/examples/a', url === undefined ? {} : header(url)),
};

function expectOutbound({ status, text, body }: Answer, { status: expected, message }: ProblemFactory): void {
  assert.equal(status, expected, text);
  const [start = ''] = message.split('{').filter(Boolean);
  assert.ok(body.Message.includes(start.replace(/^\w+\}/, '')), text);
}

/** Addresses that are refused before any connection. */
const wrongAddresses: readonly (readonly [url: string, problem: ProblemFactory])[] = [
  ['nonsense', outboundProblem.bad_url],
  ['ftp://127.0.0.1/a', outboundProblem.bad_scheme],
  ['http://a:b@127.0.0.1/', outboundProblem.credentials_in_url],
];

/** Responses that are errors. */
const wrongResponses: readonly (readonly [send: typeof respond, problem: ProblemFactory])[] = [
  [response => response.destroy(), outboundProblem.unreachable],
  [response => void response.end('x'.repeat(largeBytes)), outboundProblem.too_large],
  [
    response => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip'),
    outboundProblem.undecodable,
  ],
  [response => void response.writeHead(302, { location: '/again' }).end(), outboundProblem.too_many_redirects],
  [response => void response.writeHead(302, { location: 'http://[' }).end(), outboundProblem.refused_redirect],
];

/** Names with an empty label are refused by the resolver of the system, without a query. */
const unknownUrl = 'http://nowhere..invalid/';
const linkLocalUrl = 'http://169.254.169.254/';
const redirectTo = (location: string) => (response: ServerResponse) => void response.writeHead(302, { location }).end();

describe('Problems of fetching a file', () => {
  for (const [name, send] of Object.entries({ ...importing, ...examples })) {
    for (const [url, problem] of wrongAddresses)
      test(`${name} refuses an address with ${problem.code}`, async () => expectOutbound(await send(url), problem));
    for (const [answer, problem] of wrongResponses)
      test(`${name} reports ${problem.code}`, async () => {
        respond = answer;
        expectOutbound(await (name in importing ? send(`${origin}/a`) : examples[name]!()), problem);
      });
  }

  for (const [name, send] of Object.entries(posting)) {
    for (const [url, problem] of wrongAddresses)
      test(`${name} refuses an address with ${problem.code}`, async () => expectOutbound(await send(url), problem));
    for (const [answer, problem] of wrongResponses.slice(0, 3))
      test(`${name} reports ${problem.code}`, async () => {
        respond = answer;
        expectOutbound(await send(`${origin}/a`), problem);
      });
    test(`${name} reports a host that cannot be resolved`, async () =>
      expectOutbound(await send(unknownUrl), outboundProblem.unknown_host));
  }

  for (const [name, send] of Object.entries({ ...importing, ...posting }))
    test(`${name} refuses a link-local address`, async () =>
      expectOutbound(await send(linkLocalUrl), outboundProblem.refused_address));

  for (const [name, send] of Object.entries(importing)) {
    test(`${name} reports a host that cannot be resolved`, async () =>
      expectOutbound(await send(unknownUrl), outboundProblem.unknown_host));

    test(`${name} reports the status of the file`, async () => {
      respond = response => void response.writeHead(404).end();
      expectOutbound(await send(`${origin}/a`), apis.document_unavailable);
    });
  }

  test('operations that import a document refuse a network that the organisation may not use', async () => {
    const { orgId, accessKey: credential } = await app.stranger();
    const body = { openapi: '3.0.3', info: { title: 'A', version: '1' }, paths: {} };
    const path = '/api/apis/oas/import?listenPath=/b/&upstreamURL=http://127.0.0.1:9/';
    const made = await app.ask('POST', path, { body, credential });
    assert.equal(made.status, 200, made.text);
    await app.ask('PUT', `/admin/organisations/${orgId}/grants`, { body: { networks: ['public'] } });
    const asked: Asked = { body: { url: origin }, credential };
    await expectProblem(app, 'importDocument', outboundProblem.refused, '/api/apis/oas/import', asked);
    await expectProblem(app, 'convertDocument', outboundProblem.refused, '/api/apis/convert', asked);
    const graphPath = '/api/data-graphs/data-sources/import';
    await expectProblem(app, 'importDataGraph', outboundProblem.refused, graphPath, asked);
    const definition = openApi({ url: origin }, { graphql: { enabled: true, schema: 'type Query { a: Int }' } });
    await app.ask('PUT', `/admin/organisations/${orgId}/grants`, { body: {} });
    await app.ask('POST', '/api/apis', { body: { api_definition: definition }, credential });
    await app.ask('PUT', `/admin/organisations/${orgId}/grants`, { body: { networks: ['public'] } });
    const schemaPath = `/api/apis/${definition.api_id}/graphql/schema`;
    await expectProblem(app, 'updateGraphqlSchema', outboundProblem.refused, schemaPath, asked);
    await expectProblem(app, 'patchDocument', outboundProblem.refused, `/api/apis/oas/${made.body.ID}`, asked);
  });

  for (const [name, send] of Object.entries(examples)) {
    test(`${name} refuses a redirect to a link-local address, and reports an unknown host`, async () => {
      respond = redirectTo(linkLocalUrl);
      expectOutbound(await send(), outboundProblem.refused_address);
      respond = redirectTo(unknownUrl);
      expectOutbound(await send(), outboundProblem.unknown_host);
    });

    test(`${name} reports an index that is none`, async () => {
      respond = response => void response.end('{"examples":1}');
      expectOutbound(await send(), examplesProblem.index_invalid);
    });
  }

  test('all of them, and calls of the gateway, report that too many outbound requests are in progress', async () => {
    respond = () => undefined;
    const { outbound } = app.application.installation.services;
    const leave = new AbortController();
    const silent = { url: origin, audience: 'operator', signal: leave.signal, timeoutMs: 120_000 } as const;
    const pending = Array.from({ length: defaultOutboundBounds.maxConcurrent }, () => outbound.fetch(silent));
    const ended = Promise.allSettled(pending);
    for (const send of Object.values({ ...importing, ...posting }))
      expectOutbound(await send(origin), outboundProblem.too_busy);
    for (const send of Object.values(examples)) expectOutbound(await send(), outboundProblem.too_busy);
    for (const [name, path] of Object.entries(calling))
      await expectProblem(app, name, outboundProblem.too_busy, path, callOf(`${origin}/a/`));
    leave.abort(new Error('enough'));
    await ended;
  });

  for (const [name, send] of Object.entries(examples))
    test(`${name} refuses loopback for an address of the caller`, async () =>
      expectOutbound(await send(origin), outboundProblem.refused));
});

/** Operations that send a request to the gateway; `gateway.url` is the server of this test. */
const calling = { callGateway: '/api/proxy', explainCall: '/api/explain' } as const;
const callOf = (url: string): Asked => ({ body: { method: 'GET', url } });

describe('Problems of calls of the gateway', () => {
  for (const [name, path] of Object.entries(calling)) {
    test(`${name} refuses other addresses, and paths of other APIs or of none`, async () => {
      await expectProblem(app, name, proxy.url_foreign, path, callOf('http://127.0.0.1:1/a/'));
      await expectProblem(app, name, proxy.path_unknown, path, callOf(`${origin}/nowhere/`));
      const { accessKey: credential } = await app.stranger();
      await expectProblem(app, name, proxy.path_foreign, path, { ...callOf(`${origin}/a/`), credential });
    });

    for (const [send, problem] of wrongResponses.slice(0, 3))
      test(`${name} reports ${problem.code}`, async () => {
        respond = send;
        await expectProblem(app, name, problem, path, callOf(`${origin}/a/`));
      });
  }

  test('calls of the gateway and tests of definitions are bounded together', async () => {
    const { gatewayCalls } = app.application.installation.services;
    const pending = Promise.withResolvers<void>();
    const orgId = app.credentials.organisation_id;
    const running = Array.from({ length: 10 }, () => gatewayCalls.run(orgId, () => pending.promise));
    for (const [name, path] of Object.entries(calling))
      await expectProblem(app, name, proxy.too_many_calls, path, callOf(`${origin}/a/`));
    const body = { spec: openApi({ url: origin }), request: { method: 'GET', path: '/' } };
    await expectProblem(app, 'debugDefinition', proxy.too_many_calls, '/api/debug', { body });
    const tested = { body: { code: 'function f() {}', hook_type: 'virtual' } };
    await expectProblem(app, 'testPlugin', proxy.too_many_calls, '/api/plugins/test', tested);
    pending.resolve();
    await Promise.all(running);
  });
});

describe('Time limits of outbound requests', () => {
  let hurried: TestApp;
  let hurriedApi: string;
  before(async () => {
    hurried = await startApp('sqlite', {
      settings: {
        'apis.examples_index': `${origin}/index.json`,
        'apis.fetch_timeout_ms': '100',
        'apis.call_timeout_ms': '100',
        'gateway.url': unknownUrl,
      },
    });
    const made = await hurried.ask('POST', `/api/apis/oas/import?listenPath=/a/&upstreamURL=${origin}`, {
      body: { openapi: '3.0.3', info: { title: 'A', version: '1' }, paths: {} },
    });
    assert.equal(made.status, 200, made.text);
    hurriedApi = made.body.ID;
    await waitUntilApplied(hurried);
    respond = () => undefined;
  });
  after(() => hurried?.close());

  test('apis.fetch_timeout_ms: a file that does not arrive in time is an error', async () => {
    const { timed_out } = outboundProblem;
    const asked: Asked = { body: { url: origin } };
    await expectProblem(hurried, 'importDocument', timed_out, '/api/apis/oas/import', asked);
    await expectProblem(hurried, 'convertDocument', timed_out, '/api/apis/convert', asked);
    await expectProblem(hurried, 'importDataGraph', timed_out, '/api/data-graphs/data-sources/import', asked);
    const definition = openApi({ url: origin }, { graphql: { enabled: true, schema: 'type Query { a: Int }' } });
    await hurried.ask('POST', '/api/apis', { body: { api_definition: definition } });
    const schemaPath = `/api/apis/${definition.api_id}/graphql/schema`;
    await expectProblem(hurried, 'updateGraphqlSchema', timed_out, schemaPath, asked);
    await expectProblem(hurried, 'patchDocument', timed_out, `/api/apis/oas/${hurriedApi}`, asked);
    await expectProblem(hurried, 'listExamples', timed_out, '/api/examples');
    await expectProblem(hurried, 'getExample', timed_out, '/api/examples/a');
  });

  for (const [name, path] of Object.entries(calling))
    test(`${name}: apis.call_timeout_ms, and a gateway.url whose host cannot be resolved`, async () => {
      await expectProblem(hurried, name, outboundProblem.timed_out, path, callOf(`${hurried.url.gateway}/a/`));
      await expectProblem(hurried, name, outboundProblem.unknown_host, path, callOf(`${unknownUrl}a/`));
    });
});
