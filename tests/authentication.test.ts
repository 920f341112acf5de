import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets, type TestApp } from './support/app.ts';
import { makeAuthority } from './support/certificates.ts';
import { type Definition, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Enough connections that every thread takes some. */
const connections = 12;

interface Given {
  status: number;
  body: string;
}

/** A call over a connection of its own: the system gives each to one of the threads. */
const alone = (url: string, headers: Record<string, string> = {}): Promise<Given> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { headers, agent: false }, response => {
      let body = '';
      response.on('data', chunk => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode!, body }));
    });
    asked.on('error', reject).end();
  });

/** What all threads answer, which has to be one thing. */
async function everywhere(url: string, headers: Record<string, string> = {}): Promise<Given> {
  const all = await Promise.all(Array.from({ length: connections }, () => alone(url, headers)));
  const statuses = new Set(all.map(({ status }) => status));
  assert.equal(statuses.size, 1, `the threads disagree: ${[...statuses].join(', ')}`);
  return all[0]!;
}

const refusal = (message: string) => `{\n    "error": ${JSON.stringify(message)}\n}`;

onEveryEngine(
  'API keys, basic authentication and certificates',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream.close());

    const createKeyApi = (more: Record<string, unknown> = {}) => openApi(upstream, { use_keyless: false, ...more });
    const rightsTo = (...apis: Definition[]) =>
      Object.fromEntries(apis.map(api => [api.api_id, { api_id: api.api_id, api_name: 'x', versions: ['Default'] }]));

    async function keyFor(...apis: Definition[]): Promise<string> {
      return createKey(app(), { access_rights: rightsTo(...apis) });
    }
    async function createKey(at: TestApp, body: object): Promise<string> {
      const made = await at.ask('POST', '/api/keys', { body });
      assert.equal(made.status, 200, made.text);
      rememberSecrets({ key: made.body.key_id });
      await waitUntilApplied(at);
      return made.body.key_id;
    }
    const change = async (method: string, path: string, body?: object) => {
      const { status, text } = await app().ask(method, path, body === undefined ? {} : { body });
      assert.equal(status, 200, text);
      await waitUntilApplied(app());
    };

    test('a key is accepted by the APIs of its rights from creation to deletion, on every thread', async () => {
      const [mine, other] = [createKeyApi(), createKeyApi()];
      const [url, otherUrl] = [await publish(app(), mine), await publish(app(), other)];
      assert.deepEqual(await everywhere(url), { status: 401, body: refusal('Authorization field missing') });
      const guess = { authorization: 'some-guess' };
      assert.equal((await everywhere(url, guess)).status, 403);

      const keyId = await keyFor(mine);
      const headers = { authorization: keyId };
      assert.equal((await everywhere(`${url}/a`, headers)).status, 200);
      assert.deepEqual(await everywhere(otherUrl, headers), {
        status: 403,
        body: refusal('Access to this API has been disallowed'),
      });

      await change('PUT', `/api/keys/${keyId}`, { access_rights: rightsTo(mine, other) });
      assert.equal((await everywhere(otherUrl, headers)).status, 200);
      await change('PUT', `/api/keys/${keyId}`, { access_rights: rightsTo(mine), is_inactive: true });
      assert.deepEqual(await everywhere(url, headers), { status: 403, body: refusal('Key is inactive, please renew') });
      await change('PUT', `/api/keys/${keyId}`, { access_rights: rightsTo(mine) });
      assert.equal((await everywhere(url, headers)).status, 200);
      await change('DELETE', `/api/keys/${keyId}`);
      assert.equal((await everywhere(url, headers)).status, 403);
    });

    test('a policy change applies to its keys on every thread', async () => {
      const [first, second] = [createKeyApi(), createKeyApi()];
      const [url, secondUrl] = [await publish(app(), first), await publish(app(), second)];
      const policy = {
        name: createPublicId(),
        id: createPublicId(),
        active: true,
        state: 'active',
        access_rights: rightsTo(first),
      };
      await change('POST', '/api/portal/policies', policy);
      const headers = { authorization: await createKey(app(), { apply_policies: [policy.id] }) };
      assert.equal((await everywhere(url, headers)).status, 200);
      assert.equal((await everywhere(secondUrl, headers)).status, 403);
      await change('PUT', `/api/portal/policies/${policy.id}`, { ...policy, access_rights: rightsTo(second) });
      assert.equal((await everywhere(url, headers)).status, 403);
      assert.equal((await everywhere(secondUrl, headers)).status, 200);
      await change('PUT', `/api/portal/policies/${policy.id}`, {
        ...policy,
        access_rights: rightsTo(second),
        is_inactive: true,
        state: 'deny',
      });
      assert.deepEqual(await everywhere(secondUrl, headers), {
        status: 403,
        body: refusal('Key is inactive, please renew'),
      });
    });

    test('basic authentication accepts only the password of the user', async () => {
      const api = createKeyApi({ use_basic_auth: true });
      const url = await publish(app(), api);
      const user = `user-${createPublicId()}`;
      const withPassword = (password: string) => ({
        authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
      });
      const body = { access_rights: rightsTo(api), basic_auth_data: { password: 'first:word' } };
      await change('POST', `/api/apis/keys/basic/${user}`, body);
      assert.equal((await everywhere(url, withPassword('first:word'))).status, 200);
      assert.deepEqual(await alone(url, withPassword('wrong')), { status: 401, body: refusal('User not authorised') });
      await change('PUT', `/api/apis/keys/basic/${user}`, { ...body, basic_auth_data: { password: 'second' } });
      assert.equal((await everywhere(url, withPassword('first:word'))).status, 401);
      assert.equal((await everywhere(url, withPassword('second'))).status, 200);
      const byKey = createKeyApi();
      const keyUrl = await publish(app(), byKey);
      await change('PUT', `/api/apis/keys/basic/${user}`, { ...body, access_rights: rightsTo(api, byKey) });
      assert.equal((await alone(keyUrl, { authorization: user })).status, 403);
    });

    test('stripped credentials do not reach the upstream', async () => {
      const api = createKeyApi({ strip_auth_data: true });
      const url = await publish(app(), api);
      const { status, body } = await alone(url, { authorization: await keyFor(api), 'x-other': '1' });
      assert.equal(status, 200);
      const { headers } = JSON.parse(body) as { headers: Record<string, string> };
      assert.deepEqual([headers.authorization, headers['x-other']], [undefined, '1']);
    });

    async function uploadAuthority(): Promise<string> {
      const form = new FormData();
      form.append('data', new Blob([makeAuthority(createPublicId()).certPem]), 'ca.pem');
      const { body, text } = await app().ask('POST', '/api/certs', { body: form });
      assert.ok(body.id, text);
      return body.id;
    }

    test('a key bound to a certificate has an id derived from it, and is unique', async () => {
      const [api, certificate] = [createKeyApi(), await uploadAuthority()];
      const url = await publish(app(), api);
      const body = { access_rights: rightsTo(api), certificate };
      const keyId = await createKey(app(), body);
      assert.equal(keyId, certificate);
      assert.equal((await app().ask('POST', '/api/keys', { body })).status, 409);
      assert.equal((await alone(url, { authorization: keyId })).status, 401, 'nobody showed the certificate');
    });

    test('an API is served only while the certificates that it names exist', async () => {
      const id = await uploadAuthority();
      const api = createKeyApi({ use_mutual_tls_auth: true, client_certificates: [id] });
      const url = await publish(app(), api);
      assert.deepEqual(await everywhere(url), { status: 403, body: refusal('TLS not enabled') });
      await change('DELETE', `/api/certs/${id}`);
      assert.deepEqual(await everywhere(url), { status: 503, body: refusal('This API is not available') });
      const { body } = await app().ask('GET', `/api/apis/${api.api_id}/status`);
      assert.equal(body.reason, `the client certificate ${id} is not in the certificate store`);
    });

    test('an API reached by gw:// requires its own credentials, also from an endpoint without authentication', async () => {
      const inner = createKeyApi({ auth_configs: { authToken: { auth_header_name: 'x-inner' } } });
      const innerUrl = await publish(app(), inner);
      const open = { name: 'Default', use_extended_paths: true, extended_paths: { ignored: [{ path: '/open' }] } };
      const outer = createKeyApi({
        version_data: { not_versioned: true, versions: { Default: open } },
        proxy: { target_url: `gw://${inner.api_id}` },
      });
      const outerUrl = await publish(app(), outer);
      const [outerKey, innerKey] = [await keyFor(outer), await keyFor(inner)];
      assert.equal((await alone(innerUrl, { 'x-inner': innerKey })).status, 200);
      assert.equal(
        (await alone(`${outerUrl}/open`)).status,
        401,
        'an endpoint without authentication does not open the inner API',
      );
      assert.equal((await alone(`${outerUrl}/x`, { authorization: outerKey })).status, 401);
      assert.equal((await alone(`${outerUrl}/x`, { authorization: outerKey, 'x-inner': outerKey })).status, 403);
      assert.equal((await alone(`${outerUrl}/x`, { authorization: outerKey, 'x-inner': innerKey })).status, 200);
      assert.equal((await alone(`${outerUrl}/open`, { 'x-inner': innerKey })).status, 200);
    });

    test('internal endpoints of an API that is a version of another API stay internal', async () => {
      const internal = { internal: [{ path: '/inside', method: 'GET' }] };
      const entry = { name: 'Default', use_extended_paths: true, extended_paths: internal };
      const child = openApi(upstream, { version_data: { not_versioned: true, versions: { Default: entry } } });
      await publish(app(), child);
      const base = openApi(upstream, {
        definition: {
          enabled: true,
          name: 'base',
          default: 'self',
          location: 'header',
          key: 'x-version',
          versions: { v2: child.api_id },
        },
      });
      const url = await publish(app(), base);
      assert.equal((await alone(`${url}/other`, { 'x-version': 'v2' })).status, 200);
      assert.deepEqual(await alone(`${url}/inside`, { 'x-version': 'v2' }), {
        status: 403,
        body: refusal('Requested endpoint is forbidden'),
      });
      const looping = openApi(upstream, { proxy: { target_url: `gw://${child.api_id}` } });
      assert.equal((await alone(`${await publish(app(), looping)}/inside`)).status, 200);
    });
  },
  { settings: { threads: '2' } },
);
