import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets } from './support/app.ts';
import { mint } from './support/tokens.ts';
import { type Definition, eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

interface Line {
  event?: string;
  api_id?: string;
  message?: string;
}
const lines: Line[] = [];
const onLog = (line: string) => void lines.push(JSON.parse(line));

onEveryEngine(
  'what callers may do, on the wire',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream.close());

    const createKeyApi = (more: object = {}) => openApi(upstream, { use_keyless: false, ...more });
    const rights = (...apis: Definition[]) =>
      Object.fromEntries(apis.map(api => [api.api_id, { versions: ['Default'] }]));
    async function write(method: string, path: string, body: object) {
      const reply = await app().ask(method, path, { body });
      assert.equal(reply.status, 200, reply.text);
      await waitUntilApplied(app());
      return reply.body;
    }
    async function makeKey(body: object): Promise<string> {
      const { key_id } = await write('POST', '/api/keys', body);
      rememberSecrets({ key: key_id });
      return key_id;
    }
    async function makePolicy(body: object): Promise<string> {
      const id = createPublicId();
      await write('POST', '/api/portal/policies', { name: id, id, state: 'active', access_rights: {}, ...body });
      return id;
    }
    const callApi = async (url: string, key: string, method = 'GET') => {
      const reply = await fetch(url, { method, headers: { authorization: key } });
      const { error } = (await reply.json()) as { error?: string };
      return error === undefined ? String(reply.status) : `${reply.status} ${error}`;
    };
    async function times(count: number, url: string, key: string): Promise<number[]> {
      const found: number[] = [];
      for (let n = 0; n < count; n++) found.push(Number((await callApi(url, key)).slice(0, 3)));
      return found;
    }
    const waitForEvent = (event: string, { api_id }: Definition) =>
      eventually(() => assert.ok(lines.some(line => line.event === event && line.api_id === api_id)));

    test('a draft policy creates no keys and keeps existing ones; a denied one blocks them and emits an event', async () => {
      const api = createKeyApi();
      const url = await publish(app(), api);
      const policy = { name: createPublicId(), id: createPublicId(), access_rights: rights(api) };
      await write('POST', '/api/portal/policies', { ...policy, state: 'active' });
      const key = await makeKey({ apply_policies: [policy.id] });
      const path = `/api/portal/policies/${policy.id}`;
      await write('PUT', path, { ...policy, state: 'draft' });
      assert.equal(await callApi(url, key), '200');
      assert.equal((await app().ask('POST', '/api/keys', { body: { apply_policies: [policy.id] } })).status, 400);
      await write('PUT', path, { ...policy, state: 'deny' });
      assert.equal(await callApi(url, key), '403 Key is inactive, please renew');
      await waitForEvent('KeyExpired', api);
      await write('PUT', path, { ...policy, state: 'active' });
      assert.equal(await callApi(url, key), '200');
    });

    test('partitioned policies are combined: access rights, rate limit and quota', async () => {
      const api = createKeyApi();
      const url = await publish(app(), api);
      const access_rights = rights(api);
      const opens = await makePolicy({ access_rights, partitions: { acl: true } });
      const rate = await makePolicy({ access_rights, partitions: { rate_limit: true }, rate: 2, per: 3600 });
      const quota = await makePolicy({
        access_rights,
        partitions: { quota: true },
        quota_max: 1,
        quota_renewal_rate: 60,
      });
      assert.deepEqual(await times(2, url, await makeKey({ apply_policies: [opens] })), [200, 200]);
      assert.deepEqual(await times(3, url, await makeKey({ apply_policies: [opens, rate] })), [200, 200, 429]);
      await waitForEvent('RatelimitExceeded', api);
      assert.deepEqual(await times(3, url, await makeKey({ apply_policies: [opens, rate, quota] })), [200, 403, 429]);
      await waitForEvent('QuotaExceeded', api);
    });

    test('a per-API policy counts each API separately', async () => {
      const [first, second] = [createKeyApi(), createKeyApi()];
      const [one, two] = [await publish(app(), first), await publish(app(), second)];
      const limit = { rate: 1, per: 3600, quota_max: -1 };
      const access_rights = {
        [first.api_id]: { versions: ['Default'], limit },
        [second.api_id]: { versions: ['Default'], limit: { ...limit, rate: 2 } },
      };
      const policy = await makePolicy({ access_rights, partitions: { per_api: true } });
      const key = await makeKey({ apply_policies: [policy] });
      assert.deepEqual(await times(2, one, key), [200, 429]);
      assert.deepEqual(await times(3, two, key), [200, 200, 429]);
    });

    test('a right can be limited to paths and methods, in any encoding, and rate limit single endpoints', async () => {
      const api = createKeyApi();
      const url = await publish(app(), api);
      const endpoints = [{ path: '/rare', methods: [{ name: 'GET', limit: { rate: 1, per: 3600 } }] }];
      const allowed_urls = [{ url: '/(rare|open)', methods: ['GET'] }];
      const access_rights = { [api.api_id]: { versions: ['Default'], allowed_urls, endpoints } };
      const key = await makeKey({ access_rights });
      const refused = '403 Access to this resource has been disallowed';
      assert.equal(await callApi(`${url}/open`, key), '200');
      assert.equal(await callApi(`${url}/open`, key, 'DELETE'), refused);
      for (const path of ['/closed', '/open/../closed', '/%63losed', '//closed', '/closed/open'])
        assert.equal(await callApi(url + path, key), refused, path);
      assert.deepEqual(await times(2, `${url}/rare`, key), [200, 429]);
      assert.equal(await callApi(`${url}/%72are`, key), '429 Rate Limit Exceeded');
      assert.equal(await callApi(`${url}/open`, key), '200');
    });

    test('an expired key is refused and emits an event; a key for another API is refused', async () => {
      const [api, other] = [createKeyApi(), createKeyApi()];
      const [url, otherUrl] = [await publish(app(), api), await publish(app(), other)];
      const key = await makeKey({ access_rights: rights(api), expires: Math.ceil(Date.now() / 1000) });
      await eventually(async () => assert.equal(await callApi(url, key), '401 Key has expired, please renew'));
      await waitForEvent('KeyExpired', api);
      const good = await makeKey({ access_rights: rights(api) });
      assert.equal(await callApi(url, good), '200');
      assert.equal(await callApi(otherUrl, good), '403 Access to this API has been disallowed');
      assert.equal(await callApi(url, 'nobody-has-this'), '403 Access to this API has been disallowed');
      await waitForEvent('AuthFailure', api);
    });

    test('with several authentication methods all must pass, and the base identity decides whose limits apply', async () => {
      const api = createKeyApi({
        use_basic_auth: true,
        use_standard_auth: true,
        base_identity_provided_by: 'basic_auth_user',
        auth_configs: { authToken: { auth_header_name: 'x-key' } },
      });
      const url = await publish(app(), api);
      const user = `user-${createPublicId()}`;
      const limits = { quota_max: 5, quota_renewal_rate: 3600 };
      const body = { access_rights: rights(api), ...limits, basic_auth_data: { password: 'word' } };
      await write('POST', `/api/apis/keys/basic/${user}`, body);
      const key = await makeKey({ access_rights: rights(api), quota_max: 50, quota_renewal_rate: 3600 });
      const authorization = `Basic ${Buffer.from(`${user}:word`).toString('base64')}`;
      assert.equal((await fetch(url, { headers: { authorization } })).status, 401);
      assert.equal((await fetch(url, { headers: { 'x-key': key } })).status, 401);
      assert.equal((await fetch(url, { headers: { authorization, 'x-key': 'nobody-has-this' } })).status, 403);
      const reply = await fetch(url, { headers: { authorization, 'x-key': key } });
      const quota = ['limit', 'remaining'].map(name => reply.headers.get(`x-ratelimit-${name}`));
      assert.deepEqual([reply.status, ...quota], [200, '5', '4']);
      const reset = Number(reply.headers.get('x-ratelimit-reset'));
      const nowSeconds = Math.ceil(Date.now() / 1000);
      assert.ok(reset > nowSeconds && reset <= nowSeconds + 3600);
    });

    const jwt = { enable_jwt: true, jwt_signing_method: 'rsa' };
    for (const [what, definition, reason] of [
      [
        'a plugin',
        { custom_plugin_auth_enabled: true },
        'authentication by plugin is enabled, and no plugin is named for it',
      ],
      ['a key that is none', { ...jwt, jwt_source: 'bm90IGEga2V5' }, 'the JWT key source contains no rsa key'],
      ['a secret', { ...jwt, jwt_source: 'env://GW_NOT_THERE' }, 'the secret env://GW_NOT_THERE is missing'],
      [
        'a certificate',
        { use_mutual_tls_auth: true, client_certificates: ['not-there'] },
        'the client certificate not-there is not in the certificate store',
      ],
      [
        'a policy',
        {
          use_openid: true,
          openid_options: { providers: [{ issuer: 'https://id.example', client_ids: { YXBw: 'not-there' } }] },
        },
        'the policy not-there is missing',
      ],
    ] as const)
      test(`an API that needs ${what} gets 503 without it, and its status names the reason`, async () => {
        const api = createKeyApi(definition);
        const url = await publish(app(), api);
        assert.equal(await callApi(url, 'x'), '503 This API is not available');
        for (const surface of ['api', 'gw']) {
          const { body, text } = await app().ask('GET', `/${surface}/apis/${api.api_id}/status`);
          assert.deepEqual([body.served, body.reason], [false, reason], text);
        }
      });

    test('an API that assigns a policy is served only while the policy exists, in both formats', async () => {
      const secret = Buffer.from('a secret of some length, shared').toString('base64');
      const token = mint({ sub: 'ann' }, 'a secret of some length, shared', { alg: 'HS256' });
      const [classic, id, other] = [createPublicId(), `o${createPublicId()}`, createPublicId()];
      const api = createKeyApi({ enable_jwt: true, jwt_source: secret, jwt_default_policies: [classic] });
      const scopes = { scopeToPolicyMapping: [{ scope: 'read', policyId: other }] };
      const header = { enabled: true, name: 'Authorization' };
      const jwt = { enabled: true, header, source: secret, signingMethod: 'hmac', defaultPolicies: [classic], scopes };
      const oas = {
        openapi: '3.0.3',
        info: { title: id, version: '1' },
        paths: {},
        components: { securitySchemes: { jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
        security: [{ jwt: [] }],
        'x-gw-api-gateway': {
          info: { id, name: id, state: { active: true } },
          upstream: { url: upstream.url },
          server: {
            listenPath: { value: `/${id}/`, strip: true },
            authentication: { enabled: true, securitySchemes: { jwt } },
          },
        },
      };
      const url = await publish(app(), api);
      await write('POST', '/gw/apis/oas', oas);
      const oasUrl = `${app().url.gateway}/${id}/`;
      const unavailable = '503 This API is not available';
      assert.equal(await callApi(url, token), unavailable);
      assert.equal(await callApi(oasUrl, token), unavailable);
      const status = await app().ask('GET', `/gw/apis/${api.api_id}/status`);
      assert.deepEqual([status.body.served, status.body.reason], [false, `the policy ${classic} is missing`]);
      const access_rights = { [api.api_id]: { versions: ['Default'] }, [id]: { versions: [''] } };
      await makePolicy({ id: classic, access_rights });
      assert.equal(await callApi(url, token), '200');
      assert.equal(await callApi(oasUrl, token), unavailable);
      await makePolicy({ id: other, access_rights });
      assert.equal(await callApi(oasUrl, token), '200');
      await write('DELETE', `/api/portal/policies/${classic}`, {});
      assert.equal(await callApi(url, token), unavailable);
      assert.equal(await callApi(oasUrl, token), unavailable);
    });

    test('a past expiry creates a key without one, and does not change an existing expiry', async () => {
      const api = createKeyApi();
      const url = await publish(app(), api);
      const body = { access_rights: rights(api), expires: Math.floor(Date.now() / 1000) - 60 };
      const key = await makeKey(body);
      assert.equal(await callApi(url, key), '200');
      assert.equal((await app().ask('GET', `/api/keys/${key}`)).body.data.expires, 0);
      const expires = body.expires + 3660;
      await write('PUT', `/api/keys/${key}`, { ...body, expires });
      await write('PUT', `/api/keys/${key}`, body);
      assert.equal((await app().ask('GET', `/api/keys/${key}`)).body.data.expires, expires);
      await write('PUT', `/api/keys/${key}`, { ...body, expires: 1 });
      assert.equal(await callApi(url, key), '401 Key has expired, please renew');
    });
  },
  { onLog },
);
