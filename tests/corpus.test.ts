import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { checkClassic } from '#definition/classic.ts';
import { convertToClassic, convertToOas } from '#definition/convert.ts';
import { oasToModel } from '#definition/model.ts';
import type { OasDefinition } from '#definition/wire-types.ts';
import { corpus, type Sample } from './corpus/corpus.ts';
import type { Bag } from './corpus/pieces.ts';
import type { Called } from './corpus/samples.ts';
import { type EngineName, startApp, type TestApp } from './support/app.ts';
import { waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

test('the corpus is large, varied and the same on every run', () => {
  assert.ok(corpus.length >= 150, String(corpus.length));
  assert.equal(new Set(corpus.map(({ name }) => name)).size, corpus.length);
  assert.ok(new Set(corpus.map(({ type }) => type)).size >= 6);
});

/** What an author wrote: what the gateway adds so that it can name operations and its own part is left out. */
function toAuthored(document: Bag): unknown {
  const { 'x-gw-api-gateway': _, ...rest } = document;
  return JSON.parse(JSON.stringify(rest, (name, value) => (name === 'operationId' ? undefined : value)));
}

const extensionOf = (document: Bag) =>
  document['x-gw-api-gateway'] as { info: { id: string }; upstream: { url: string } };

const endpointsOf = (document: OasDefinition) => oasToModel(document).versions[0]!.endpoints;

function runs(engine: EngineName, whole: boolean): void {
  describe(`Real-world OpenAPI documents (${engine})`, () => {
    let app: TestApp;
    let upstream: Upstream;
    before(async () => {
      [app, upstream] = await Promise.all([startApp(engine, { settings: { 'log.level': 'error' } }), startUpstream()]);
    });
    after(async () => {
      await app?.close();
      await upstream?.close();
    });

    const bytesOf = (sample: Sample) =>
      sample.bytes(text =>
        text
          .replaceAll('UPSTREAM', upstream.url)
          .replaceAll('HOST', '127.0.0.1')
          .replaceAll('PORT', String(upstream.port)),
      );

    const importSample = (sample: Sample, id: string) => {
      const query = new URLSearchParams({ apiID: id, listenPath: `/${id}`, ...sample.query });
      if (!sample.ownServers) query.set('upstreamURL', upstream.url);
      const headers = { 'content-type': sample.type };
      return app.ask('POST', `/gw/apis/oas/import?${query}`, { body: bytesOf(sample), headers });
    };

    async function read(id: string): Promise<Bag> {
      const { status, body, text } = await app.ask('GET', `/gw/apis/oas/${id}`);
      assert.equal(status, 200, text.slice(0, 500));
      return body;
    }

    async function checkExport(id: string, document: Bag): Promise<void> {
      const { text } = await app.ask('GET', `/gw/apis/oas/${id}/export`);
      assert.deepEqual(JSON.parse(text), document);
      const { body } = await app.ask('GET', `/gw/apis/oas/${id}/export?mode=public`);
      assert.deepEqual(
        Object.keys(body).filter(name => name.startsWith('x-gw')),
        [],
      );
      assert.match(body.servers[0].url, new RegExp(`/${id}$`));
      const upstreams = body.servers.filter(({ url }: { url: string }) => url === extensionOf(document).upstream.url);
      assert.deepEqual(upstreams, []);
    }

    /** A document patched with itself, whole or without the gateway's part, is what it was. */
    async function checkPatch(sample: Sample, id: string, document: Bag): Promise<void> {
      const whole = await app.ask('PATCH', `/gw/apis/oas/${id}`, { body: document });
      assert.equal(whole.status, 200, whole.text.slice(0, 500));
      assert.deepEqual(await read(id), document);
      const options = { body: bytesOf(sample), headers: { 'content-type': sample.type } };
      const plain = await app.ask('PATCH', `/gw/apis/oas/${id}`, options);
      assert.equal(plain.status, 200, plain.text.slice(0, 500));
      assert.deepEqual(await read(id), document);
    }

    async function checkCall(id: string, { path, method = 'GET', status = 200 }: Called): Promise<void> {
      const reply = await fetch(`${app.url.gateway}/${id}${path}`, { method });
      assert.equal(reply.status, status, `${method} ${path}: ${await reply.clone().text()}`);
      if (status === 200) assert.ok(((await reply.json()) as { url: string }).url.endsWith(path), path);
    }

    for (const sample of corpus) {
      const { fate } = sample;
      const id = createPublicId();
      if ('refused' in fate)
        test(`${sample.name} is refused, with the place`, async () => {
          const { status, body, text } = await importSample(sample, id);
          assert.equal(status, 400, text.slice(0, 500));
          assert.match(body.message, fate.refused);
        });
      else
        test(`${sample.name} is imported, read, exported, patched, converted and called`, async () => {
          const made = await importSample(sample, id);
          assert.equal(made.status, 200, made.text.slice(0, 500));
          const document = await read(id);
          const given = typeof sample.document === 'string' || sample.ownServers ? undefined : sample.document;
          if (given) assert.deepEqual(toAuthored(document), toAuthored(sample.read ?? given));
          if (!whole) return;
          await checkExport(id, document);
          await checkPatch(sample, id, document);
          const classic = convertToClassic(document as OasDefinition);
          assert.deepEqual(checkClassic(classic), { ok: true, definition: classic });
          const home = convertToOas(classic);
          const { 'x-gw-api-gateway': _, ...openApi } = document;
          assert.partialDeepStrictEqual(home, openApi);
          assert.deepEqual(endpointsOf(home), endpointsOf(document as OasDefinition));
          await waitUntilApplied(app);
          for (const one of fate.calls) await checkCall(id, one);
        });
    }
  });
}

runs('sqlite', true);
runs('postgres', false);
