import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type Answer, startApp, type TestApp } from '../support/app.ts';
import { openApi, publish, waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { bodies, type Document, schemas, templates } from './documents.ts';

/** Below the limit of a buffered body. */
const mostBytes = 10_485_760;

describe('Hostile definitions', () => {
  let app: TestApp;
  let upstream: Upstream;
  let ordinary = '';
  let behind: Upstream;
  before(async () => {
    [upstream, behind] = await Promise.all([startUpstream(), startUpstream()]);
    app = await startApp('sqlite', { settings: { 'log.level': 'error' } });
    ordinary = await publish(app, openApi(upstream));
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    await behind?.close();
  });

  /** Writes the definition; returns the result and the URL of the API. */
  async function writeDefinition({ classic, oas }: Document): Promise<{ answer: Answer; url: string }> {
    const id = createPublicId();
    if (!oas) {
      const definition = openApi(behind, { ...classic, proxy: { listen_path: `/${id}` } });
      const answer = await app.ask('POST', '/api/apis', { body: { api_definition: definition } });
      return { answer, url: `${app.url.gateway}/${id}/x` };
    }
    const { paths, components = {}, operation } = oas;
    const body = {
      openapi: '3.0.3',
      info: { title: id, version: '1' },
      paths,
      components,
      'x-gw-api-gateway': {
        info: { id, name: id, state: { active: true } },
        upstream: { url: behind.url },
        server: { listenPath: { value: `/${id}/`, strip: true } },
        middleware: { operations: { x: operation } },
      },
    };
    return { answer: await app.ask('POST', '/gw/apis/oas', { body }), url: `${app.url.gateway}/${id}/x` };
  }

  for (const [kind, documents] of Object.entries({ templates, bodies, schemas }))
    for (const [name, document] of Object.entries(documents))
      test(`${kind}: ${name} is refused or bounded, and another API responds meanwhile`, async () => {
        const { answer, url } = await writeDefinition(document);
        assert.ok(answer.status === 200 || answer.status === 400, `${answer.status} ${answer.text.slice(0, 300)}`);
        if (answer.status === 400) assert.match(answer.text, /[\w.[\]-]+: .{10,}/);
        await waitUntilApplied(app);
        if (answer.status === 200) await checkCall(document, url);
        assert.equal((await fetch(`${ordinary}/after`)).status, 200);
      });

  async function checkCall({ body = '', upstream: says, answers }: Document, url: string): Promise<void> {
    behind.answer = says && ((_request, response) => void response.writeHead(200, says.headers).end(says.body));
    const before = behind.requests.length;
    const headers = { 'content-type': 'application/json' };
    const hostile = fetch(url, { method: 'POST', body: body as RequestInit['body'], headers }).then(async reply => ({
      status: reply.status,
      text: await reply.text(),
    }));
    const other = await fetch(`${ordinary}/meanwhile`);
    assert.equal(other.status, 200);
    const { status, text } = await hostile;
    assert.ok(answers.includes(status), `${status} ${text.slice(0, 300)}`);
    assert.ok(text.length <= mostBytes);
    assert.doesNotMatch(text, /hahaha|root:/);
    for (const { body: sent } of behind.requests.slice(before)) {
      assert.ok(sent.length <= mostBytes);
      assert.doesNotMatch(sent, /hahaha|root:/);
    }
  }
});
