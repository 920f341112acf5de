import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from './support/app.ts';
import { documentOf, header, hook, publishTokens, tokenOf, type Wanted } from './support/oauth2.ts';
import { waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';
import { type Receiver, startReceiver } from './support/webhooks.ts';

const jwt = { authorization: `Bearer ${tokenOf()}` };

onEveryEngine('Alternative security requirements', app => {
  let upstream: Upstream;
  let receiver: Receiver;
  before(async () => {
    [upstream, receiver] = await Promise.all([startUpstream(), startReceiver()]);
  });
  after(async () => {
    await upstream.close();
    await receiver.close();
  });

  const publishApi = ({ authentication, ...more }: Wanted) =>
    publishTokens(app(), upstream, {
      ...more,
      authentication: { securityProcessingMode: 'compliant', ...authentication },
    });
  async function keyFor(apiId: string, more: object = {}): Promise<string> {
    const body = { access_rights: { [apiId]: { api_id: apiId, versions: [''] } }, ...more };
    const made = await app().ask('POST', '/gw/keys', { body });
    assert.equal(made.status, 200, made.text);
    await waitUntilApplied(app());
    return made.body.key;
  }
  const eitherOne = {
    document: { security: [{ jwt: [] }, { key: [] }] },
    schemes: { key: { enabled: true } },
  };

  test('each requirement admits a request by itself, and the error is that of the last one', async () => {
    const { id, call } = await publishApi(eitherOne);
    const key = await keyFor(id);
    assert.equal((await call('/x', jwt)).status, 200);
    assert.equal((await call('/x', { 'x-key': key })).status, 200);
    assert.equal((await call('/x', { authorization: 'Bearer nonsense', 'x-key': key })).status, 200);
    const nobody = await call('/x');
    assert.deepEqual([nobody.status, nobody.body], [401, { error: 'Authorization field missing' }]);
    const wrong = await call('/x', { authorization: 'Bearer nonsense', 'x-key': 'wrong' });
    assert.deepEqual([wrong.status, wrong.body], [403, { error: 'Access to this API has been disallowed' }]);
  });

  test('an AuthFailure event is emitted once, only when every requirement fails', async () => {
    const path = `/${createPublicId()}`;
    const { id, call } = await publishApi({ ...eitherOne, server: hook('AuthFailure', receiver.url + path) });
    assert.equal((await call('/x', { authorization: 'Bearer nonsense', 'x-key': await keyFor(id) })).status, 200);
    assert.equal((await call('/x', { authorization: 'Bearer other nonsense', 'x-key': 'wrong' })).status, 403);
    await receiver.take(path, 1);
    assert.equal((await call('/x', { 'x-key': 'wrong' })).status, 403);
    const [first, second] = (await receiver.take(path, 2)).map(({ body }) => JSON.parse(body).key);
    assert.equal(first, second, 'both are about the last attempt');
  });

  test('all schemes of one requirement must pass, also two of one kind, and the last one identifies the client', async () => {
    const { id, call } = await publishApi({
      document: { security: [{ key: [], other: [] }, { basic: [] }] },
      schemes: {
        jwt: { enabled: false },
        key: { enabled: true },
        other: { enabled: true },
        basic: { enabled: true, header },
      },
    });
    const [one, two] = [await keyFor(id), await keyFor(id)];
    assert.equal((await call('/x', { 'x-key': one, 'x-other': two })).status, 200);
    assert.equal((await call('/x', { 'x-key': one })).status, 401);
    assert.equal((await call('/x', { 'x-other': two })).status, 401);
    assert.equal((await call('/x', { 'x-key': 'wrong', 'x-other': two })).status, 401);
  });

  test('a failed requirement leaves no identity and no token claims behind', async () => {
    const { id, call } = await publishApi({
      document: { security: [{ jwt: [], other: [] }, { key: [] }] },
      schemes: { key: { enabled: true }, other: { enabled: true } },
      global: {
        contextVariables: { enabled: true },
        transformRequestHeaders: { enabled: true, add: [{ name: 'X-Sub', value: '$gw_context.jwt_claims_sub' }] },
      },
    });
    await call('/x', { ...jwt, 'x-key': await keyFor(id) });
    assert.equal(upstream.requests.at(-1)!.headers['x-sub'], '');
    const key = await keyFor(id, { rate: 1, per: 1000 });
    assert.equal((await call('/x', { ...jwt, 'x-key': key })).status, 200);
    assert.equal((await call('/x', { ...jwt, 'x-key': key })).status, 429, 'the limit is that of the key');
  });

  test('requirements of the gateway extension follow those of the document and may name its own schemes', async () => {
    const { id, call } = await publishApi({
      document: { security: [{ jwt: [] }] },
      authentication: { hmac: { enabled: true, header }, security: [['hmac', 'key']] },
      schemes: { key: { enabled: true } },
    });
    assert.equal((await call('/x', jwt)).status, 200);
    const { status, body } = await call('/x', { 'x-key': await keyFor(id) });
    assert.deepEqual([status, body], [400, { error: 'Authorization field missing, malformed or invalid' }]);
  });

  test('a client certificate is required only by the requirement that names it', async () => {
    const { call } = await publishApi({
      document: { security: [{ jwt: [] }] },
      server: { clientCertificates: { enabled: true, allowlist: [] } },
      authentication: { security: [['mtls', 'jwt']] },
    });
    assert.equal((await call('/x', jwt)).status, 200);
    const { status, body } = await call('/x');
    assert.deepEqual([status, body], [403, { error: 'TLS not enabled' }]);
  });

  test('a scheme without configuration admits no request', async () => {
    const { call } = await publishApi({
      document: { security: [{ jwt: [] }, { basic: [] }] },
    });
    assert.equal((await call('/x', jwt)).status, 200);
    const { status, body } = await call('/x');
    assert.deepEqual([status, body], [500, { error: 'security scheme basic is not configured' }]);
  });

  test('scopes are checked only for requests with a token', async () => {
    const { id, call, as } = await publishApi({
      document: { security: [{ jwt: [], scopes: ['read'] }, { key: [] }] },
      scheme: { scopeCheck: { enabled: true } },
      schemes: { key: { enabled: true } },
    });
    assert.equal((await call('/x', as({ scope: 'read' }))).status, 200);
    assert.equal((await call('/x', as({ scope: 'other' }))).status, 403);
    assert.equal((await call('/x', { 'x-key': await keyFor(id) })).status, 200);
  });

  test('in legacy mode only the first requirement of the document applies, and no API becomes open by mistake', async () => {
    const legacy = { securityProcessingMode: 'legacy' };
    const { id, call } = await publishApi({ ...eitherOne, authentication: legacy });
    assert.equal((await call('/x', jwt)).status, 200);
    assert.equal((await call('/x', { 'x-key': await keyFor(id) })).status, 400);
    const both = await publishApi({
      ...eitherOne,
      document: { security: [{ jwt: [], key: [] }] },
      authentication: legacy,
    });
    assert.equal((await both.call('/x', jwt)).status, 401);
    const neither = await publishApi({ ...eitherOne, document: { security: [{ basic: [] }] }, authentication: legacy });
    assert.equal((await neither.call('/x')).status, 400);
    assert.equal((await neither.call('/x', jwt)).status, 401);
  });

  test('an enabled scheme that no requirement names is refused when the definition is written', async () => {
    const words = 'enabled but not configured in a security requirement';
    for (const [more, message] of [
      [{}, `invalid multi-auth configuration: key auth ${words}`],
      [{ hmac: { enabled: true, header } }, `invalid multi-auth configuration: key, hmac auth methods ${words}`],
    ] as const) {
      const body = documentOf(upstream, `o${createPublicId()}`, 'none', {
        schemes: { key: { enabled: true } },
        authentication: { securityProcessingMode: 'compliant', ...more },
      });
      const { status, text } = await app().ask('POST', '/gw/apis/oas', { body });
      assert.equal(status, 400);
      assert.ok(text.includes(message), text);
    }
  });
});
