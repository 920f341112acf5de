import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { summarize } from '../src/apis/api/rules.ts';
import type { StoredApi } from '../src/apis/api/schema.ts';
import { onEveryEngine, type TestApp } from './support/app.ts';
import { makeAuthority, makeServerCertificate } from './support/certificates.ts';
import { type Definition, openApi, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

interface Tenant {
  readonly orgId: string;
  readonly accessKey: string;
}

const settings = { 'tenants.grants': JSON.stringify({ networks: ['public', 'private', 'loopback'] }) };

async function write(app: TestApp, { accessKey }: Tenant, definition: Definition): Promise<string> {
  const body = { api_definition: definition };
  const answer = await app.ask('POST', '/api/apis', { credential: accessKey, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.ID;
}

/** A route as an older release would have taken it: past the comparison with other organisations. */
async function force(app: TestApp, tenant: Tenant, definition: Definition): Promise<string> {
  const { domain: _domain, ...harmless } = definition;
  const proxy = { ...definition.proxy, listen_path: `/${definition.api_id}/` };
  const id = await write(app, tenant, { ...harmless, proxy });
  const { records, services } = app.application.installation;
  await records.write(async () => {
    const {
      kind: _kind,
      definition: before,
      ...kept
    } = (await services.apis.get(tenant.orgId, id))! as StoredApi & {
      kind: 'classic';
    };
    const written = { kind: 'classic', definition: { ...before, ...definition } } as const;
    await services.apis.replace({ ...kept, ...written, summary: summarize(written, kept.wrapper) } as StoredApi);
    records.markChanged('apis', kept.id);
  });
  return id;
}

const grant = async (app: TestApp, { orgId }: Tenant, body: object) =>
  assert.equal((await app.ask('PUT', `/admin/organisations/${orgId}/grants`, { body })).status, 200);

onEveryEngine(
  'routes of organisations in traffic',
  app => {
    const upstreams: Upstream[] = [];
    let a: Tenant;
    let b: Tenant;
    before(async () => {
      for (const name of ['a', 'b']) {
        const upstream = await startUpstream();
        upstream.answer = (_request, response) => void response.end(name);
        upstreams.push(upstream);
      }
      a = await app().stranger();
      b = await app().stranger();
    });
    after(async () => {
      for (const upstream of upstreams) await upstream.close();
    });

    const ofA = (listen_path: string, more = {}) => openApi(upstreams[0]!, { ...more, proxy: { listen_path } });
    const ofB = (listen_path: string, more = {}) => openApi(upstreams[1]!, { ...more, proxy: { listen_path } });

    /** Which upstream answers at a host and path; the status where none does. */
    async function answerer(path: string, host = 'localhost'): Promise<string> {
      const { hostname, port } = new URL(app().url.gateway);
      const sent = request({ hostname, port, path, headers: { host }, agent: false });
      sent.end();
      const [reply] = await once(sent, 'response');
      let text = '';
      for await (const part of reply.setEncoding('utf8')) text += part;
      return reply.statusCode === 200 ? text : String(reply.statusCode);
    }

    const warnings = async (id: string): Promise<string[]> =>
      (await app().ask('GET', `/gw/apis/${id}/status`)).body.warnings ?? [];

    test('a newer route inside an older one of another organisation gets none of its requests, and both are reported', async () => {
      const older = await write(app(), a, ofA('/inside/'));
      const newer = await force(app(), b, ofB('/inside/charge'));
      await waitUntilApplied(app());
      assert.equal(await answerer('/inside/charge'), 'a');
      assert.equal(await answerer('/inside/other'), 'a');
      assert.match((await warnings(older)).join(), /overlaps a newer route of another organisation/);
      const texts = (await warnings(newer)).join();
      assert.match(texts, /overlaps an older route of another organisation/);
      assert.ok(!texts.includes(a.orgId) && !texts.includes('/inside'));
      await app().ask('DELETE', `/gw/apis/${older}`);
      await waitUntilApplied(app());
      assert.equal(await answerer('/inside/charge'), 'b');
      assert.deepEqual(await warnings(newer), []);
    });

    test('a newer route by a parameter, a host or a host pattern serves only requests that the older one does not match', async () => {
      await write(app(), a, ofA('/wide/'));
      const pattern = await force(app(), b, ofB('/{x:wide|narrow}/in', { domain: '{h:.*}' }));
      const host = await force(app(), b, ofB('/', { domain: 'shop.example' }));
      await waitUntilApplied(app());
      assert.equal(await answerer('/wide/in', 'any.example'), 'a');
      assert.equal(await answerer('/narrow/in', 'any.example'), 'b');
      assert.equal(await answerer('/wide/x', 'shop.example'), 'a');
      assert.equal(await answerer('/else', 'shop.example'), 'b');
      for (const id of [pattern, host]) await app().ask('DELETE', `/gw/apis/${id}`);
    });

    test('of two organisations with one route the older one is served, regardless of later changes', async () => {
      const older = await write(app(), a, ofA('/same/'));
      const newer = await force(app(), b, ofB('/same/'));
      await waitUntilApplied(app());
      assert.equal(await answerer('/same/'), 'a');
      const { body } = await app().ask('GET', `/gw/apis/${newer}`);
      assert.equal((await app().ask('PUT', `/gw/apis/${newer}`, { body: { ...body, name: 'Again' } })).status, 200);
      await waitUntilApplied(app());
      assert.equal(await answerer('/same/'), 'a');
      await app().ask('DELETE', `/gw/apis/${older}`);
      await waitUntilApplied(app());
      assert.equal(await answerer('/same/'), 'b');
    });

    test('a host granted to an organisation is not matched by routes of others without a host', async () => {
      await write(app(), a, ofA('/held/'));
      await waitUntilApplied(app());
      assert.equal(await answerer('/held/', 'b.example'), 'a');
      await grant(app(), b, { domains: ['b.example', '*.b.example'] });
      await waitUntilApplied(app());
      assert.equal(await answerer('/held/', 'b.example'), '404');
      assert.equal(await answerer('/held/', 'www.b.example'), '404');
      assert.equal(await answerer('/held/', 'other.example'), 'a');
      await write(app(), b, ofB('/', { domain: 'b.example' }));
      await waitUntilApplied(app());
      assert.equal(await answerer('/held/', 'b.example'), 'b');
      assert.equal(await answerer('/held/'), 'a');
    });
  },
  { settings },
);

const directory = mkdtempSync(join(tmpdir(), 'gw-tenants-'));
const authority = makeAuthority();
const own = makeServerCertificate(authority);
const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
writeFileSync(files.cert, own.chainPem);
writeFileSync(files.key, own.keyPem);
after(() => rmSync(directory, { recursive: true }));

onEveryEngine(
  'certificates of organisations',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream?.close());

    async function fetchServerCertificate(servername: string): Promise<string> {
      const port = Number(new URL(app().url.gateway).port);
      const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerCertificate();
      socket.destroy();
      return fingerprint256.replaceAll(':', '').toLowerCase();
    }

    const upload = async (tenant: Tenant, names: string[]): Promise<{ id: string; print: string }> => {
      const made = makeServerCertificate(authority, { cn: names[0]!, dnsNames: names });
      const { body, text } = await app().ask('POST', '/api/certs', {
        credential: tenant.accessKey,
        body: made.chainPem + made.keyPem,
      });
      assert.ok(body?.id, text);
      return { id: body.id, print: body.id.slice(-64) };
    };

    test('a certificate is served only for hosts that its organisation was granted or used first', async () => {
      const [a, b] = [await app().stranger(), await app().stranger()];
      const ofA = await upload(a, ['pay.example']);
      const ofB = await upload(b, ['pay.example', 'deep.pay.example']);
      const at = (listen_path: string, more: object) => openApi(upstream, { ...more, proxy: { listen_path } });
      const plain = await fetchServerCertificate('pay.example');
      await force(app(), a, at('/first/', { domain: 'pay.example' }));
      await force(app(), b, at('/second/', { domain: 'pay.example', certificates: [ofB.id] }));
      await force(app(), b, at('/third/', { domain: '{h:.*}', certificates: [ofB.id] }));
      await waitUntilApplied(app());
      assert.equal(await fetchServerCertificate('pay.example'), plain);
      assert.equal(await fetchServerCertificate('deep.pay.example'), ofB.print);
      await force(app(), a, at('/fourth/', { domain: 'pay.example', certificates: [ofA.id] }));
      await waitUntilApplied(app());
      assert.equal(await fetchServerCertificate('pay.example'), ofA.print);
      await grant(app(), b, { domains: ['pay.example'] });
      await waitUntilApplied(app());
      assert.equal(await fetchServerCertificate('pay.example'), ofB.print);
      await grant(app(), b, {});
      await grant(app(), a, { domains: ['pay.example', '*.pay.example'] });
      await waitUntilApplied(app());
      assert.equal(await fetchServerCertificate('pay.example'), ofA.print);
      assert.equal(await fetchServerCertificate('deep.pay.example'), plain);
    });
  },
  {
    settings: {
      ...settings,
      'gateway.headers_timeout_ms': '1000',
      'gateway.tls.enabled': 'true',
      'gateway.tls.certificate_file': files.cert,
      'gateway.tls.key_file': files.key,
    },
  },
);
