import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { outboundProblem } from '#base/http-client/problems.ts';
import type { ProblemFactory } from '#base/problems.ts';
import { type Answer, startApp, type TestApp } from '../support/app.ts';

/** Problems of fetching a file, through every operation that fetches one by its address. */

const largeBytes = 6_000_000;
let respond: (response: ServerResponse) => void = response => void response.end();
const server = createServer((_request, response) => respond(response));
let origin: string;
let app: TestApp;
let apiId: string;

before(async () => {
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app = await startApp('sqlite', { settings: { 'apis.examples_index': `${origin}/index.json` } });
  const document = { openapi: '3.0.3', info: { title: 'A', version: '1' }, paths: {} };
  const made = await app.ask('POST', '/api/apis/oas/import?listenPath=/a/&upstreamURL=http://127.0.0.1:9/', {
    body: document,
  });
  assert.equal(made.status, 200, made.text);
  apiId = made.body.ID;
});
after(async () => {
  await app?.close();
  server.closeAllConnections();
  server.close();
});

const importing: Readonly<Record<string, (url: string) => Promise<Answer>>> = {
  importDocument: url => app.ask('POST', '/api/apis/oas/import', { body: { url } }),
  patchDocument: url => app.ask('PATCH', `/api/apis/oas/${apiId}`, { body: { url } }),
};
const header = (url: string) => ({ headers: { 'x-gw-examples-index': url } });
const examples: Readonly<Record<string, (url?: string) => Promise<Answer>>> = {
  listExamples: url => app.ask('GET', '/api/examples', url === undefined ? {} : header(url)),
  getExample: url => app.ask('GET', '/api/examples/a', url === undefined ? {} : header(url)),
};

function expectProblem({ status, text, body }: Answer, { status: expected, message }: ProblemFactory): void {
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

describe('Problems of fetching a file', () => {
  for (const [name, send] of Object.entries({ ...importing, ...examples })) {
    for (const [url, problem] of wrongAddresses)
      test(`${name} refuses an address with ${problem.code}`, async () => expectProblem(await send(url), problem));
    for (const [answer, problem] of wrongResponses)
      test(`${name} reports ${problem.code}`, async () => {
        respond = answer;
        expectProblem(await (name in importing ? send(`${origin}/a`) : examples[name]!()), problem);
      });
  }

  for (const [name, send] of Object.entries(importing))
    test(`${name} refuses a link-local address`, async () =>
      expectProblem(await send('http://169.254.169.254/'), outboundProblem.refused_address));

  for (const [name, send] of Object.entries(examples))
    test(`${name} refuses loopback for an address of the caller`, async () =>
      expectProblem(await send(origin), outboundProblem.refused));
});
