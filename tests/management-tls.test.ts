import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, type RequestOptions, request } from 'node:https';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { readSettings, type SettingName } from '#base/settings.ts';
import { validateTlsSettings } from '#operations/listener-tls.ts';
import { readDashboardUrl } from '#people/sessions/dashboard-url.ts';
import { startApp, type TestApp } from './support/app.ts';
import {
  type MadeCertificate,
  makeAuthority,
  makeCertificate,
  makeClientCertificate,
  makeServerCertificate,
} from './support/certificates.ts';
import { eventually, runChild } from './support/gw-process.ts';

const authority = makeAuthority();
const stranger = makeAuthority('Another authority');
const directory = mkdtempSync(join(tmpdir(), 'gw-management-tls-'));
after(() => rmSync(directory, { recursive: true }));

const pathOf = (name: string) => join(directory, name);
const files = {
  cert: pathOf('cert.pem'),
  key: pathOf('key.pem'),
  ca: pathOf('ca.pem'),
  clientCa: pathOf('client-ca.pem'),
};
const write = ({ chainPem, keyPem }: MadeCertificate, to: { cert: string; key: string } = files) => {
  writeFileSync(to.key, keyPem);
  writeFileSync(to.cert, chainPem);
};
const tlsSettings = { 'management.tls.certificate_file': files.cert, 'management.tls.key_file': files.key };

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly fingerprint: string;
}

async function send(url: string, options: RequestOptions = {}, body?: unknown): Promise<Reply> {
  const asked = request(url, { ca: authority.certPem, agent: false, ...options });
  asked.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = await once(asked, 'response');
  const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate();
  let text = '';
  for await (const chunk of response) text += chunk;
  const fingerprint = fingerprint256.replaceAll(':', '').toLowerCase();
  return { status: response.statusCode, headers: response.headers, text, fingerprint };
}

describe('TLS on the management listeners', () => {
  const lines: string[] = [];
  let app: TestApp;
  let own = makeServerCertificate(authority);

  before(async () => {
    write(own);
    writeFileSync(files.ca, authority.certPem);
    app = await startApp('sqlite', {
      settings: {
        ...tlsSettings,
        'management.tls.min_version': '1.3',
        'management.tls.ca_file': files.ca,
        'management.hsts_seconds': '31536000',
        'gateway.tls.enabled': 'true',
        'gateway.tls.certificate_file': files.cert,
        'gateway.tls.key_file': files.key,
      },
      onLog: line => void lines.push(line),
    });
  });
  after(() => app?.close());

  test('dashboard and portal respond over TLS, with HSTS, and links use https', async () => {
    for (const url of [app.url.dashboard, app.url.portal]) {
      assert.match(url, /^https:\/\/127\.0\.0\.1:\d+$/);
      const { status, headers } = await send(`${url}/ready`);
      assert.deepEqual([status, headers['strict-transport-security']], [200, 'max-age=31536000']);
    }
    assert.match((await send(`${app.url.dashboard}/`)).text, /curl [^\n]*https:\/\/127\.0\.0\.1:\d+\/api\/apis/);
    assert.equal(readDashboardUrl(readSettings({ flags: tlsSettings })), 'https://localhost:3000');
  });

  test('the session cookie is Secure', async () => {
    const { admin_email: username, admin_password: password } = app.credentials;
    const signedIn = await send(
      `${app.url.dashboard}/api/session`,
      { method: 'POST', headers: { 'content-type': 'application/json' } },
      { username, password },
    );
    assert.equal(signedIn.status, 200, signedIn.text);
    assert.match(signedIn.headers['set-cookie']![0]!, /; HttpOnly; SameSite=Lax; Secure$/);
  });

  test('a request in clear text gets 400 with the reason, and its body is not read', async () => {
    for (const url of [app.url.dashboard, app.url.portal]) {
      const plain = await fetch(`${url.replace('https:', 'http:')}/api/users`, {
        method: 'POST',
        body: 'x'.repeat(100_000),
      });
      assert.equal(plain.status, 400);
      assert.deepEqual(await plain.json(), { Status: 'Error', Message: 'This port requires HTTPS', Meta: null });
    }
  });

  test('a connection that is neither is closed, and the listener goes on', async () => {
    const { port } = new URL(app.url.dashboard);
    const socket = connectTcp(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(Buffer.from([0, 1, 2, 3, 4, 5, 6, 7]));
    await once(socket.resume(), 'close');
    assert.equal((await send(`${app.url.dashboard}/live`)).status, 200);
  });

  test('management.tls.min_version refuses earlier versions', async () => {
    const { port } = new URL(app.url.dashboard);
    const socket = connect({ port: Number(port), host: '127.0.0.1', ca: authority.certPem, maxVersion: 'TLSv1.2' });
    const [error] = await once(socket, 'error');
    assert.match(String(error.code), /PROTOCOL_VERSION/);
  });

  test('a replaced certificate is presented without a restart; a wrong pair leaves the earlier one', async () => {
    const presented = async (url = app.url.dashboard) => (await send(`${url}/live`)).fingerprint;
    assert.equal(await presented(), own.fingerprint);
    writeFileSync(files.cert, makeServerCertificate(authority).chainPem);
    await eventually(() => lines.some(line => line.includes('management TLS certificate not reloaded')), 'reported');
    assert.equal(await presented(), own.fingerprint);
    own = makeServerCertificate(authority);
    write(own);
    await eventually(async () => (await presented()) === own.fingerprint, 'presented');
    // Each listener watches the files by itself.
    await eventually(async () => (await presented(app.url.portal)) === own.fingerprint, 'presented by the portal');
  });

  describe('gw commands', () => {
    const presents = async (url: string, { fingerprint }: MadeCertificate) =>
      (await send(`${url}/live`, { checkServerIdentity: () => undefined })).fingerprint === fingerprint;
    const runStatus = (environment: Record<string, string>, dataDirectory = app.directory) =>
      runChild(['status'], { directory: dataDirectory, environment });

    test('the certificate of the gw on the data directory is trusted by itself, whatever names it has', async () => {
      const named = makeCertificate({
        cn: 'gw.example',
        dnsNames: ['gw.example'],
        usages: ['server'],
        issuer: authority,
      });
      write(named);
      await eventually(() => presents(app.url.dashboard, named), 'presented');
      const { code, out, err } = await runStatus({});
      assert.equal(code, 0, err);
      assert.match(out, /^Health: pass/);
      write(own);
      for (const url of [app.url.dashboard, app.url.portal]) await eventually(() => presents(url, own), 'presented');
    });

    test('another certificate at the address of the data directory is refused', async () => {
      const forged = makeServerCertificate(authority);
      const server = createServer(
        { cert: forged.chainPem, key: forged.keyPem },
        (_request, response) => void response.end('{}'),
      ).listen(0, '127.0.0.1');
      await once(server, 'listening');
      try {
        const elsewhere = mkdtempSync(join(directory, 'elsewhere-'));
        const dashboard = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
        writeFileSync(join(elsewhere, 'listening.json'), JSON.stringify({ dashboard, certificate_file: files.cert }));
        const { code, err } = await runStatus({ GW_SECRET: 's' }, elsewhere);
        assert.equal(code, 1);
        assert.match(
          err,
          /is unreachable \(\w*(LEAF|ISSUER|SELF_SIGNED)\w*: the server is not trusted; set GW_CA_FILE/,
        );
      } finally {
        server.close();
      }
    });

    test('GW_CA_FILE names the authority of another machine, without which it is refused', async () => {
      const elsewhere = mkdtempSync(join(directory, 'empty-'));
      const environment = {
        GW_URL: app.url.dashboard.replace('127.0.0.1', 'localhost'),
        GW_SECRET: app.credentials.gateway_secret,
      };
      const refused = await runStatus(environment, elsewhere);
      assert.equal(refused.code, 1);
      assert.match(refused.err, /set GW_CA_FILE to the PEM file of its certificate authority/);
      const trusted = await runStatus({ ...environment, GW_CA_FILE: files.ca }, elsewhere);
      assert.equal(trusted.code, 0, trusted.err);
      const missing = await runStatus({ ...environment, GW_CA_FILE: pathOf('missing.pem') }, elsewhere);
      assert.match(missing.err, /missing\.pem cannot be read \(ENOENT\)/);
    });
  });

  test('management.tls.ca_file: a gateway with a certificate of that authority is called and explains requests', async () => {
    const headers = { authorization: app.credentials.admin_access_key, 'content-type': 'application/json' };
    const post = (path: string) =>
      send(
        `${app.url.dashboard}${path}`,
        { method: 'POST', headers },
        { method: 'GET', url: `${app.url.gateway}/none` },
      );
    const explained = await post('/api/explain');
    assert.equal(explained.status, 200, explained.text);
    const { status_code, explanation } = JSON.parse(explained.text);
    assert.equal(status_code, 404);
    assert.ok(explanation.steps.length > 0);
    rmSync(files.ca);
    const unreadable = await post('/api/proxy');
    writeFileSync(files.ca, authority.certPem);
    assert.equal(unreadable.status, 502);
    assert.match(unreadable.text, /management\.tls\.ca_file cannot be read \(ENOENT\)/);
  });

  test('management.tls.ca_file: a provider of the portal is a dashboard with a certificate of that authority', async () => {
    const headers = { authorization: app.credentials.portal_token, 'content-type': 'application/json' };
    const portal = (method: string, path: string, body?: unknown) =>
      send(`${app.url.portal}/portal-api/providers${path}`, { method, headers }, body);
    const synchronize = async (Name: string, URL: string) => {
      const MetaData = JSON.stringify({
        URL,
        Secret: app.credentials.admin_access_key,
        OrgID: app.credentials.organisation_id,
      });
      const made = await portal('POST', '', { Name, Type: 'gw-pro', Configuration: { MetaData } });
      assert.equal(made.status, 200, made.text);
      return portal('PUT', `/${JSON.parse(made.text).ID}/synchronize`);
    };
    const trusted = await synchronize('Trusted', app.url.dashboard);
    assert.equal(trusted.status, 200, trusted.text);
    const { chainPem: cert, keyPem: key } = makeServerCertificate(stranger);
    const other = createServer({ cert, key }, (_request, response) => void response.end('{}')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    try {
      const refused = await synchronize('Untrusted', `https://127.0.0.1:${(other.address() as AddressInfo).port}`);
      assert.equal(refused.status, 422);
      assert.match(refused.text, /certificate/);
    } finally {
      other.close();
    }
  });
});

describe('client certificates on the control listener', () => {
  const client = makeClientCertificate(authority);
  const clientFiles = { cert: pathOf('client.pem'), key: pathOf('client.key') };
  let app: TestApp;
  let control = '';

  before(async () => {
    write(makeServerCertificate(authority));
    write(client, clientFiles);
    writeFileSync(files.ca, authority.certPem);
    writeFileSync(files.clientCa, authority.certPem);
    const settings = { ...tlsSettings, role: 'gateway', 'gateway.control_client_ca_file': files.clientCa };
    app = await startApp('sqlite', { settings });
    control = app.application.urls.control!;
  });
  after(() => app?.close());

  const headers = () => ({ 'x-gw-authorization': app.credentials.gateway_secret });
  const list = (options: RequestOptions) => send(`${control}/gw/apis`, { headers: headers(), ...options });

  test('a certificate of the authority is required', async () => {
    const { status, text } = await list({ cert: client.chainPem, key: client.keyPem });
    assert.deepEqual([status, text], [200, '[]']);
    await assert.rejects(list({}), /certificate required|ECONNRESET|socket hang up|handshake failure/i);
    const { chainPem: cert, keyPem: key } = makeClientCertificate(stranger);
    await assert.rejects(list({ cert, key }), /unknown ca|ECONNRESET|socket hang up|alert/i);
  });

  test('gw commands present GW_CLIENT_CERTIFICATE_FILE', async () => {
    const environment = { GW_CLIENT_CERTIFICATE_FILE: clientFiles.cert, GW_CLIENT_KEY_FILE: clientFiles.key };
    const options = { directory: app.directory };
    const accepted = await runChild(['apis', 'ls'], { ...options, environment });
    assert.deepEqual([accepted.code, accepted.out], [0, 'There are no apis.\n'], accepted.err);
    for (const command of [['apis', 'ls'], ['status']]) {
      const without = await runChild(command, { ...options, environment: {} });
      assert.equal(without.code, 1);
      assert.match(
        without.err,
        /^(gw: )?https:\/\/\S+ requires a client certificate \(TLS alert CERTIFICATE_REQUIRED\): set GW_CLIENT_/,
      );
    }
    const foreign = makeClientCertificate(stranger);
    const foreignFiles = { cert: pathOf('foreign.pem'), key: pathOf('foreign.key') };
    write(foreign, foreignFiles);
    const rejected = await runChild(['status'], {
      ...options,
      environment: { GW_CLIENT_CERTIFICATE_FILE: foreignFiles.cert, GW_CLIENT_KEY_FILE: foreignFiles.key },
    });
    assert.match(
      rejected.err,
      /rejects the certificate of GW_CLIENT_CERTIFICATE_FILE \((connection closed|TLS alert \w+)\)/,
    );
    const half = await runChild(['apis', 'ls'], { ...options, environment: { GW_CLIENT_KEY_FILE: clientFiles.key } });
    assert.match(half.err, /GW_CLIENT_CERTIFICATE_FILE and GW_CLIENT_KEY_FILE must both be set/);
  });

  test('a removed authority is refused without a restart', async () => {
    writeFileSync(files.clientCa, stranger.certPem);
    const isRefused = () =>
      list({ cert: client.chainPem, key: client.keyPem }).then(
        () => false,
        () => true,
      );
    await eventually(isRefused, 'refused');
    const { chainPem: cert, keyPem: key } = makeClientCertificate(stranger);
    assert.equal((await list({ cert, key })).status, 200);
  });
});

describe('settings of management TLS', () => {
  const validate = (flags: Partial<Record<SettingName, string>>) => () => validateTlsSettings(readSettings({ flags }));

  test('settings without effect are refused', () => {
    const bothSet = /management\.tls\.certificate_file and management\.tls\.key_file must both be set/;
    assert.throws(validate({ 'management.tls.certificate_file': 'a' }), bothSet);
    assert.throws(validate({ 'management.tls.key_file': 'a' }), bothSet);
    assert.throws(validate({ 'gateway.control_client_ca_file': 'a', role: 'gateway' }), /needs management\.tls/);
    assert.throws(
      validate({ ...tlsSettings, 'gateway.control_client_ca_file': 'a' }),
      /needs the role gateway; with the role all/,
    );
    validate({ ...tlsSettings, 'gateway.control_client_ca_file': 'a', role: 'gateway' })();
    validate({})();
  });

  test('files that cannot be used end the start', async () => {
    writeFileSync(pathOf('text.pem'), 'no certificate');
    write(makeServerCertificate(authority));
    const reject = (settings: Partial<Record<SettingName, string>>) =>
      assert.rejects(
        startApp('sqlite', { settings }),
        /The TLS certificate of the management listeners cannot be used: /,
      );
    await reject({ ...tlsSettings, 'management.tls.certificate_file': pathOf('missing.pem') });
    await reject({ ...tlsSettings, 'management.tls.certificate_file': pathOf('text.pem') });
    await reject({ ...tlsSettings, role: 'gateway', 'gateway.control_client_ca_file': pathOf('text.pem') });
  });
});
