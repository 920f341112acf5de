import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { engines, startApp, type TestApp } from './support/app.ts';
import {
  type MadeCertificate,
  makeAuthority,
  makeClientCertificate,
  makeServerCertificate,
} from './support/certificates.ts';
import { errorBody } from './support/step-harness.ts';
import { type Definition, eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

interface Line {
  event?: string;
  api_id?: string;
}

for (const engine of engines)
  describe(`Client certificates (${engine})`, () => {
    const authority = makeAuthority();
    const own = makeServerCertificate(authority);
    const past = { notAfter: new Date(Date.now() - 60_000) };
    const directory = mkdtempSync(join(tmpdir(), 'gw-certificates-'));
    const lines: Line[] = [];
    let app: TestApp;
    let upstream: Upstream;

    before(async () => {
      const files = { certificate_file: join(directory, 'cert.pem'), key_file: join(directory, 'key.pem') };
      writeFileSync(files.certificate_file, own.chainPem);
      writeFileSync(files.key_file, own.keyPem);
      upstream = await startUpstream();
      app = await startApp(engine, {
        settings: {
          'gateway.tls.enabled': 'true',
          'gateway.tls.certificate_file': files.certificate_file,
          'gateway.tls.key_file': files.key_file,
        },
        onLog: line => void lines.push(JSON.parse(line)),
      });
    });
    after(async () => {
      await app?.close();
      await upstream?.close();
      rmSync(directory, { recursive: true });
    });

    async function write(path: string, body: unknown, method = 'POST') {
      const reply = await app.ask(method, path, { body });
      assert.equal(reply.status, 200, reply.text);
      await waitUntilApplied(app);
      return reply.body;
    }
    const upload = async ({ certPem }: MadeCertificate): Promise<string> => (await write('/api/certs', certPem)).id;
    const rights = ({ api_id }: Definition) => ({ access_rights: { [api_id]: { versions: ['Default'] } } });
    const client = (cn: string, more: object = {}) => makeClientCertificate(authority, cn, more);

    async function requestApi(url: string, shows?: MadeCertificate, headers = {}): Promise<[number, string]> {
      const shown = shows && { cert: shows.chainPem, key: shows.keyPem };
      const named = { servername: 'localhost', headers: { host: 'localhost', ...headers } };
      const sent = request(url, { ...shown, ...named, ca: authority.certPem, agent: false });
      const answered = Promise.withResolvers<[number, string]>();
      sent.on('error', answered.reject).on('response', reply => {
        text(reply).then(body => answered.resolve([reply.statusCode!, body]), answered.reject);
      });
      sent.end();
      return answered.promise;
    }
    const refusal = (status: number, message: string) => [status, errorBody(message)];
    const disallowed = 'Access to this API has been disallowed';
    const listEvents = ({ api_id }: Definition) =>
      lines.filter(it => it.event && it.api_id === api_id).map(({ event }) => event);

    test('with certificate authentication a registered certificate is accepted, and any other is refused', async () => {
      const api = openApi(upstream, {
        use_keyless: false,
        auth_configs: { authToken: { use_certificate: true } },
      });
      const url = await publish(app, api);
      const [mine, other, lost] = [client('mine'), client('other'), client('lost')];
      const id = await upload(mine);
      const { key } = await write('/gw/keys/create', { ...rights(api), certificate: id });
      assert.equal((await requestApi(url, mine))[0], 200);
      assert.deepEqual(
        await requestApi(url, undefined, { authorization: key }),
        refusal(401, 'Client certificate required'),
      );
      assert.deepEqual(await requestApi(url, client('past', past)), refusal(403, 'Certificate has expired'));
      assert.deepEqual(await requestApi(url, other, { authorization: key }), refusal(401, disallowed));
      assert.deepEqual(listEvents(api), []);
      await write(`/gw/keys/${other.fingerprint}`, { ...rights(api), certificate: id });
      await upload(other);
      assert.deepEqual(await requestApi(url, other), refusal(401, disallowed));
      await eventually(() => assert.deepEqual(listEvents(api), ['AuthFailure']));
      await write(`/gw/keys/${lost.fingerprint}`, rights(api));
      assert.deepEqual(await requestApi(url, lost), refusal(403, disallowed));
      await eventually(() => assert.deepEqual(listEvents(api), ['AuthFailure', 'AuthFailure']));
    });

    test('a key bound to a certificate is accepted only with it', async () => {
      const api = openApi(upstream, { use_keyless: false });
      const url = await publish(app, api);
      // Client certificates are requested only while an API requires one.
      await publish(
        app,
        openApi(upstream, { use_keyless: false, auth_configs: { authToken: { use_certificate: true } } }),
      );
      const mine = client('bound');
      const { key } = await write('/gw/keys/create', { ...rights(api), certificate: await upload(mine) });
      const headers = { authorization: key };
      assert.equal((await requestApi(url, mine, headers))[0], 200);
      assert.deepEqual(await requestApi(url, undefined, headers), refusal(401, disallowed));
      assert.deepEqual(await requestApi(url, client('thief'), headers), refusal(401, disallowed));
    });

    test('an allow list accepts its certificates and those issued by its authorities, within their validity', async () => {
      const [mine, other, trusted] = [client('listed'), client('unlisted'), makeAuthority('Trusted')];
      const [young, old] = [makeClientCertificate(trusted, 'young'), makeClientCertificate(trusted, 'old', past)];
      const certificates = [await upload(mine), await upload(trusted)];
      const api = openApi(upstream, { use_mutual_tls_auth: true, client_certificates: certificates });
      const url = await publish(app, api);
      assert.equal((await requestApi(url, mine))[0], 200);
      assert.equal((await requestApi(url, young))[0], 200);
      assert.deepEqual(await requestApi(url), refusal(403, 'Client TLS certificate is required'));
      const named = `Certificate with SHA256 ${other.fingerprint} not allowed`;
      assert.deepEqual(await requestApi(url, other), refusal(403, named));
      assert.deepEqual(await requestApi(url, old), refusal(403, 'Certificate has expired'));
      assert.deepEqual(listEvents(api), []);
    });
  });
