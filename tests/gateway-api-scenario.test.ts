import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type AppOptions, type EngineName, rememberSecrets, startApp, type TestApp } from './support/app.ts';
import { testRedis } from './support/services/engines.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

/** Control interface alone: `/gw` manages a gateway from the first API to the last. */

type Body = ReturnType<typeof JSON.parse>;

/** What such a client holds: two addresses and a secret. */
interface Held {
  readonly control: string;
  readonly gateway: string;
  readonly secret: string;
  readonly upstream: string;
}

async function requestControl(
  { control, secret }: Held,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  const form = body instanceof URLSearchParams;
  return fetch(control + path, {
    method,
    headers: {
      'x-gw-authorization': secret,
      ...(body === undefined || form ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
  });
}

/** One way through everything, under names of its own. */
function story(held: Held) {
  const name = createPublicId();
  const ids = { guarded: `guarded-${name}`, shop: `shop-${name}`, policy: `policy-${name}` };
  const ask = async (method: string, path: string, body?: unknown): Promise<Body> => {
    const reply = await requestControl(held, method, path, body);
    const text = await reply.text();
    assert.equal(reply.status, 200, `${method} ${path}: ${text}`);
    return JSON.parse(text);
  };
  const url = (apiId: string) => `${held.gateway}/${apiId}`;
  const call = async (apiId: string, authorization?: string): Promise<number> => {
    const reply = await fetch(`${url(apiId)}/hello`, { headers: authorization ? { authorization } : {} });
    await reply.arrayBuffer();
    return reply.status;
  };
  /** A change is live within a second of its answer; we wait for it and for nothing else. */
  const becomes = (status: number, apiId: string, authorization?: string) =>
    eventually(async () => assert.equal(await call(apiId, authorization), status));
  const rights = () =>
    Object.fromEntries([ids.guarded, ids.shop].map(api_id => [api_id, { api_id, versions: ['Default'] }]));
  const policy = (rate: number) => ({ id: ids.policy, rate, per: 60, access_rights: rights() });

  async function publish(): Promise<void> {
    const definition = (api_id: string, more: object) => ({
      api_id,
      name: api_id,
      proxy: { listen_path: `/${api_id}/`, target_url: held.upstream, strip_listen_path: true },
      ...more,
    });
    const guarded = await ask('POST', '/gw/apis', definition(ids.guarded, { use_standard_auth: true }));
    assert.deepEqual(guarded, { key: ids.guarded, status: 'ok', action: 'added' });
    const oauth_meta = { allowed_access_types: ['client_credentials'], allowed_authorize_types: [] };
    await ask('POST', '/gw/apis', definition(ids.shop, { use_oauth2: true, oauth_meta }));
    await becomes(401, ids.guarded);
    await becomes(400, ids.shop);
  }

  async function createLimitedKey(): Promise<string> {
    await ask('POST', '/gw/policies', policy(2));
    const { key } = await ask('POST', '/gw/keys', { apply_policies: [ids.policy] });
    rememberSecrets({ key });
    const statuses = [await call(ids.guarded, key), await call(ids.guarded, key), await call(ids.guarded, key)];
    assert.deepEqual(statuses, [200, 200, 429]);
    await ask('PUT', `/gw/policies/${ids.policy}`, policy(1000));
    await becomes(200, ids.guarded, key);
    return key;
  }

  async function token(clientId: string, secret: string) {
    const basic = Buffer.from(`${clientId}:${secret}`).toString('base64');
    const reply = await fetch(`${url(ids.shop)}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    const body: Body = await reply.json();
    if (body.access_token) rememberSecrets({ token: body.access_token });
    return { status: reply.status, token: body.access_token as string };
  }

  async function issueToken(): Promise<string> {
    const sent = { api_id: ids.shop, policy_id: ids.policy, redirect_uri: 'https://shop.example/back' };
    const made = await ask('POST', '/gw/oauth/clients/create', sent);
    const path = `/gw/oauth/clients/${ids.shop}/${made.client_id}`;
    const rotated = await ask('PUT', `${path}/rotate`);
    rememberSecrets({ old: made.secret, secret: rotated.secret });
    assert.equal((await token(made.client_id, made.secret)).status, 401);
    const given = await token(made.client_id, rotated.secret);
    assert.equal(given.status, 200);
    assert.equal(await call(ids.shop, `Bearer ${given.token}`), 200);
    assert.deepEqual(
      (await ask('GET', `${path}/tokens`)).map((it: Body) => it.code),
      [given.token],
    );
    const form = new URLSearchParams({ token: given.token, client_id: made.client_id });
    assert.equal((await ask('POST', '/gw/oauth/revoke', form)).message, 'token revoked successfully');
    await becomes(403, ids.shop, `Bearer ${given.token}`);
    assert.deepEqual(await ask('GET', `${path}/tokens`), []);
    return made.client_id;
  }

  async function deleteAll(key: string, clientId: string): Promise<void> {
    await ask('DELETE', `/gw/keys/${key}`);
    await becomes(403, ids.guarded, key);
    await ask('DELETE', `/gw/oauth/clients/${ids.shop}/${clientId}`);
    await ask('DELETE', `/gw/policies/${ids.policy}`);
    for (const apiId of [ids.guarded, ids.shop]) {
      await ask('DELETE', `/gw/apis/${apiId}`);
      await becomes(404, apiId);
    }
    const left = await Promise.all(['/gw/apis', '/gw/policies', '/gw/keys'].map(path => ask('GET', path)));
    for (const gone of [name, key]) assert.ok(!JSON.stringify(left).includes(gone));
  }

  return async () => {
    await publish();
    const key = await createLimitedKey();
    const clientId = await issueToken();
    assert.equal(await call(ids.guarded, key), 200);
    await deleteAll(key, clientId);
  };
}

const gateways: readonly { title: string; engine: EngineName; settings: () => Promise<AppOptions['settings']> }[] = [
  { title: 'SQLite', engine: 'sqlite', settings: async () => ({}) },
  { title: 'PostgreSQL and Redis', engine: 'postgres', settings: async () => ({ 'redis.url': await testRedis() }) },
];

for (const { title, engine, settings } of gateways) {
  describe(`Role gateway on ${title}`, () => {
    let app: TestApp;
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
      app = await startApp(engine, { settings: { role: 'gateway', threads: '2', ...(await settings()) } });
    });
    after(async () => {
      await app?.close();
      await upstream?.close();
    });
    const toPlace = (): Held => ({
      control: app.application.urls.control!,
      gateway: app.application.urls.gateway!,
      secret: app.credentials.gateway_secret,
      upstream: upstream.url,
    });

    test('two concurrent clients manage it over /gw without affecting each other', async () => {
      await Promise.all([story(toPlace())(), story(toPlace())()]);
    });
  });
}
