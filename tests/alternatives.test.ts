import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from './support/app.ts';
import { documentOf, header, hook, publishTokens, tokenOf, type Wanted } from './support/oauth2.ts';
import { settled } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';
import { type Receiver, startReceiver } from './support/webhooks.ts';

const jwt = { authorization: `Bearer ${tokenOf()}` };

onEveryEngine('several ways in, any of which will do', app => {
  let upstream: Upstream;
  let receiver: Receiver;
  before(async () => {
    [upstream, receiver] = await Promise.all([startUpstream(), startReceiver()]);
  });
  after(async () => {
    await upstream.close();
    await receiver.close();
  });

  const published = ({ authentication, ...more }: Wanted) =>
    publishTokens(app(), upstream, {
      ...more,
      authentication: { securityProcessingMode: 'compliant', ...authentication },
    });
  async function keyFor(apiId: string, more: object = {}): Promise<string> {
    const body = { access_rights: { [apiId]: { api_id: apiId, versions: [''] } }, ...more };
    const made = await app().ask('POST', '/gw/keys', { body });
    assert.equal(made.status, 200, made.text);
    await settled(app());
    return made.body.key;
  }
  const eitherOne = {
    document: { security: [{ jwt: [] }, { key: [] }] },
    schemes: { key: { enabled: true } },
  };

  test('each one lets in by itself; whom none lets in hears of the last one', async () => {
    const { id, call } = await published(eitherOne);
    const key = await keyFor(id);
    assert.equal((await call('/x', jwt)).status, 200);
    assert.equal((await call('/x', { 'x-key': key })).status, 200);
    assert.equal((await call('/x', { authorization: 'Bearer nonsense', 'x-key': key })).status, 200);
    const nobody = await call('/x');
    assert.deepEqual([nobody.status, nobody.body], [401, { error: 'Authorization field missing' }]);
    const wrong = await call('/x', { authorization: 'Bearer nonsense', 'x-key': 'wrong' });
    assert.deepEqual([wrong.status, wrong.body], [403, { error: 'Access to this API has been disallowed' }]);
  });

  test('handlers hear of those whom none lets in, and once', async () => {
    const path = `/${createPublicId()}`;
    const { id, call } = await published({ ...eitherOne, server: hook('AuthFailure', receiver.url + path) });
    assert.equal((await call('/x', { authorization: 'Bearer nonsense', 'x-key': await keyFor(id) })).status, 200);
    assert.equal((await call('/x', { authorization: 'Bearer other nonsense', 'x-key': 'wrong' })).status, 403);
    await receiver.take(path, 1);
    assert.equal((await call('/x', { 'x-key': 'wrong' })).status, 403);
    const [first, second] = (await receiver.take(path, 2)).map(({ body }) => JSON.parse(body).key);
    assert.equal(first, second, 'both are about the last attempt');
  });

  test('inside one all must let in, two of a kind too, and the last one says who calls', async () => {
    const { id, call } = await published({
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

  test('nothing of a failed attempt stays: neither who it was, nor what a token said', async () => {
    const { id, call } = await published({
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

  test('requirements of the gateway’s own part come after those of the document and may name its own schemes', async () => {
    const { id, call } = await published({
      document: { security: [{ jwt: [] }] },
      authentication: { hmac: { enabled: true, header }, security: [['hmac', 'key']] },
      schemes: { key: { enabled: true } },
    });
    assert.equal((await call('/x', jwt)).status, 200);
    const { status, body } = await call('/x', { 'x-key': await keyFor(id) });
    assert.deepEqual([status, body], [400, { error: 'Authorization field missing, malformed or invalid' }]);
  });

  test('a client certificate that one of them asks for is not asked of everybody', async () => {
    const { call } = await published({
      document: { security: [{ jwt: [] }] },
      server: { clientCertificates: { enabled: true, allowlist: [] } },
      authentication: { security: [['mtls', 'jwt']] },
    });
    assert.equal((await call('/x', jwt)).status, 200);
    const { status, body } = await call('/x');
    assert.deepEqual([status, body], [403, { error: 'TLS not enabled' }]);
  });

  test('a scheme nobody set up lets nobody in', async () => {
    const { call } = await published({
      document: { security: [{ jwt: [] }, { basic: [] }] },
    });
    assert.equal((await call('/x', jwt)).status, 200);
    const { status, body } = await call('/x');
    assert.deepEqual([status, body], [500, { error: 'security scheme basic is not configured' }]);
  });

  test('scopes are asked of those who came in with a token, and tokens in other places stay out of records', async () => {
    const { id, call, as } = await published({
      document: { security: [{ jwt: [], scopes: ['read'] }, { key: [] }] },
      scheme: { scopeCheck: { enabled: true } },
      schemes: { key: { enabled: true } },
    });
    assert.equal((await call('/x', as({ scope: 'read' }))).status, 200);
    assert.equal((await call('/x', as({ scope: 'other' }))).status, 403);
    assert.equal((await call('/x', { 'x-key': await keyFor(id) })).status, 200);
  });

  test('the older way, the first requirement of the document counts and nothing opens an API by accident', async () => {
    const legacy = { securityProcessingMode: 'legacy' };
    const { id, call } = await published({ ...eitherOne, authentication: legacy });
    assert.equal((await call('/x', jwt)).status, 200);
    assert.equal((await call('/x', { 'x-key': await keyFor(id) })).status, 400);
    const both = await published({
      ...eitherOne,
      document: { security: [{ jwt: [], key: [] }] },
      authentication: legacy,
    });
    assert.equal((await both.call('/x', jwt)).status, 401);
    const neither = await published({ ...eitherOne, document: { security: [{ basic: [] }] }, authentication: legacy });
    assert.equal((await neither.call('/x')).status, 400);
    assert.equal((await neither.call('/x', jwt)).status, 401);
  });

  test('a scheme that is on and that no requirement names is refused when it is written', async () => {
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
