import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { formatKeyId } from '#access/keys/ids.ts';
import { maxConnectionsPerPool } from '#base/http-client/pool.ts';
import { type Bench, errorBody, openBench, orgId, startMs } from '../../../tests/support/step-harness.ts';
import { mint, type Publisher, pemOf, rsaPair, startPublisher } from '../../../tests/support/tokens.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import type { Api } from '../routing/api.ts';

const now = startMs / 1000;
const rsa = rsaPair();
const idOf = (identity: string) => formatKeyId(orgId, createHash('md5').update(identity).digest('hex'));

async function listening(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('external OAuth', () => {
  let bench: Bench;
  let server: Publisher;
  before(async () => {
    bench = await openBench();
    server = await startPublisher();
  });
  after(async () => {
    await bench.close();
    await server.close();
  });
  beforeEach(() => {
    bench.time.nowMs = startMs;
    server.bodies = [];
    server.asked = [];
    server.isUnavailable = false;
  });

  const compile = (...providers: object[]) => bench.compile({ external_oauth: { enabled: true, providers } });
  const send = (api: Api, token: string, more: Record<string, string> = {}) =>
    bench.send(api, { headers: { Authorization: `Bearer ${token}`, ...more } });
  const sendToken = async (api: Api, token: string) => {
    const { status, body, events } = await send(api, token);
    return [status, body, events];
  };
  const refusal = (status: number, message: string) => [status, errorBody(message), []];

  const jwt = (more: object = {}) => ({
    jwt: {
      enabled: true,
      signing_method: 'rsa',
      source: Buffer.from(pemOf(rsa.publicKey)).toString('base64'),
      ...more,
    },
  });
  const withIntrospection = (more: object = {}) => ({
    introspection: {
      enabled: true,
      url: `${server.url}/introspect`,
      client_id: 'me',
      client_secret: 'my secret',
      ...more,
    },
  });

  test('no token: 400; no provider: 404; no verification method: 500', async () => {
    const { status, body, events } = await bench.send(await compile(jwt()));
    assert.deepEqual([status, body, events], refusal(400, 'authorization field missing'));
    assert.deepEqual(
      await sendToken(await compile(), 'x'),
      refusal(404, 'there should be at least one provider configured'),
    );
    assert.deepEqual(
      await sendToken(await compile({ jwt: { enabled: false } }), 'x'),
      refusal(500, 'access token validation method is not specified'),
    );
  });

  test('a JWT authenticates its subject, for this API only', async () => {
    const api = await compile(jwt());
    const { status, call } = await send(api, mint({ sub: 'ann', exp: now + 9 }, rsa.privateKey));
    assert.deepEqual([status, call.keyId, call.authMethod], [0, idOf('ann'), 'externalOAuth']);
    const { session } = call;
    assert.deepEqual([...session!.rights.keys()], ['bench']);
    assert.deepEqual(session!.limits.rate, { rate: 10_000, perSeconds: 60, smoothing: undefined });
    assert.equal(session!.limits.quota, undefined);
    assert.equal(session!.alias, 'ann');
    const byMail = await compile(jwt({ identity_base_field: 'user.mail' }));
    assert.equal((await send(byMail, mint({ sub: 'a', user: { mail: 'm' } }, rsa.privateKey))).call.keyId, idOf('m'));
  });

  test('a stored key of the subject is the session', async () => {
    await bench.key(
      { access_rights: { bench: { versions: ['Default'] } }, alias: 'kept' },
      { name: createHash('md5').update('kept').digest('hex') },
    );
    const { call } = await send(await compile(jwt()), mint({ sub: 'kept' }, rsa.privateKey));
    assert.equal(call.session?.alias, 'kept');
  });

  test('an invalid JWT gets 401 with the reason', async () => {
    const api = await compile(jwt({ expires_at_validation_skew: 5 }));
    for (const [token, message] of [
      ['nonsense', 'token verification failed: token is malformed'],
      [mint({ sub: 'a' }, '', { alg: 'none' }), 'token verification failed: unexpected signing method'],
      [mint({ sub: 'a' }, rsaPair().privateKey), 'token verification failed: signature is invalid'],
      [mint({ sub: 'a', exp: now - 5 }, rsa.privateKey), 'key not authorized: token has expired'],
      [mint({ sub: 'a', iat: now + 1 }, rsa.privateKey), 'key not authorized: token used before issued'],
      [mint({ sub: 'a', nbf: now + 1 }, rsa.privateKey), 'key not authorized: token is not valid yet'],
    ] as const)
      assert.deepEqual(await sendToken(api, token), refusal(401, message), message);
    assert.equal((await send(api, mint({ sub: 'a', exp: now - 4 }, rsa.privateKey))).status, 0);
    assert.deepEqual(
      await sendToken(api, mint({ exp: now + 9 }, rsa.privateKey)),
      refusal(500, 'error happened during the access token validation'),
    );
  });

  test('a token whose identity claim is empty is refused, whether signed or introspected, in any field', async () => {
    const failed = refusal(500, 'error happened during the access token validation');
    for (const claims of [{ sub: '' }, { sub: 'ann', user: { mail: '' } }, { sub: 'ann', user: {} }]) {
      const field = 'user' in claims ? { identity_base_field: 'user.mail' } : {};
      assert.deepEqual(await sendToken(await compile(jwt(field)), mint(claims, rsa.privateKey)), failed, 'signed');
      server.pages['/introspect'] = { active: true, ...claims };
      assert.deepEqual(await sendToken(await compile(withIntrospection(field)), 'opaque'), failed, 'introspected');
    }
  });

  test('introspection sends the token and client credentials, no client headers', async () => {
    server.pages['/introspect'] = { active: true, sub: 'ann', exp: now + 9 };
    const { status, call } = await send(await compile(withIntrospection()), 'opaque', {
      Cookie: 'a=b',
      'X-Secret': 'c',
    });
    assert.deepEqual([status, call.keyId], [0, idOf('ann')]);
    const [{ method, headers, body } = assert.fail('nobody asked')] = server.bodies;
    assert.equal(method, 'POST');
    assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), {
      token: 'opaque',
      client_id: 'me',
      client_secret: 'my secret',
    });
    const given = ['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'user-agent'];
    assert.deepEqual(Object.keys(headers).sort(), given);
    const byMail = await compile(withIntrospection({ identity_base_field: 'mail' }));
    server.pages['/introspect'] = { active: true, sub: 'a', mail: 'm' };
    assert.equal((await send(byMail, 'opaque')).call.keyId, idOf('m'));
  });

  test('introspection: an inactive token gets 401, an unusable response 500', async () => {
    const api = await compile(withIntrospection());
    server.pages['/introspect'] = { active: false };
    assert.deepEqual(await sendToken(api, 'x'), refusal(401, 'access token is not valid'));
    server.pages['/introspect'] = { active: true, sub: 'a', exp: now };
    assert.deepEqual(await sendToken(api, 'x'), refusal(401, 'key not authorized: token has expired'));
    const failed = refusal(500, 'error happened during the access token validation');
    for (const page of [
      'nonsense',
      '[]',
      { active: 'true', sub: 'a' },
      {},
      { active: true },
      { active: true, sub: 7 },
    ]) {
      server.pages['/introspect'] = page;
      assert.deepEqual(await sendToken(api, 'x'), failed, JSON.stringify(page));
    }
    server.pages['/introspect'] = `{"active":true,"sub":"a","pad":"${'x'.repeat(70_000)}"}`;
    assert.deepEqual(await sendToken(api, 'x'), failed);
    server.isUnavailable = true;
    assert.deepEqual(await sendToken(api, 'x'), failed);
    assert.deepEqual(
      await sendToken(await compile(withIntrospection({ url: 'http://169.254.169.254/' })), 'x'),
      failed,
      'addresses of clouds are never asked',
    );
  });

  test('introspection follows no redirects', async () => {
    const leading = createServer((_request, response) =>
      response.writeHead(307, { Location: `${server.url}/introspect` }).end('{"active":true,"sub":"ann"}'),
    );
    const url = await listening(leading);
    server.pages['/introspect'] = { active: true, sub: 'ann' };
    const failed = refusal(500, 'error happened during the access token validation');
    assert.deepEqual(await sendToken(await compile(withIntrospection({ url })), 'x'), failed);
    assert.deepEqual(server.asked, []);
    leading.close();
  });

  test('concurrent introspection requests are bounded per API', async () => {
    let held = 0;
    const silent = createServer(() => void held++);
    const slow = await compile(withIntrospection({ url: await listening(silent) }));
    const waiting = Array.from({ length: 100 }, (_, n) => send(slow, `token-${n}`));
    try {
      await eventually(() => assert.equal(held, maxConnectionsPerPool));
      const failed = refusal(500, 'error happened during the access token validation');
      assert.deepEqual(await sendToken(slow, 'one more'), failed);
      server.pages['/introspect'] = { active: true, sub: 'ann' };
      assert.equal((await send(await compile(withIntrospection()), 'x')).status, 0);
    } finally {
      silent.close();
      silent.closeAllConnections();
    }
    assert.ok((await Promise.all(waiting)).every(({ status }) => status === 500));
  });

  test('without a cache every request introspects, concurrent ones are coalesced', async () => {
    const api = await compile(withIntrospection());
    server.pages['/introspect'] = { active: true, sub: 'ann' };
    await Promise.all([1, 2, 3].map(() => send(api, 'together')));
    assert.equal(server.asked.length, 1);
    await send(api, 'together');
    assert.equal(server.asked.length, 2);
  });

  test('an introspection result is cached for its TTL, at most until the token expires', async () => {
    const api = await compile(withIntrospection({ cache: { enabled: true, timeout: 60 } }));
    server.pages['/introspect'] = { active: true, sub: 'ann', exp: now + 30 };
    await send(api, 'cached');
    bench.time.nowMs += 29_000;
    assert.equal((await send(api, 'cached')).status, 0);
    bench.time.nowMs += 1000;
    assert.deepEqual(await sendToken(api, 'cached'), refusal(401, 'key not authorized: token has expired'));
    assert.equal(server.asked.length, 1);
    bench.time.nowMs += 30_000;
    server.pages['/introspect'] = { active: true, sub: 'ann' };
    assert.equal((await send(api, 'cached')).status, 0);
    assert.equal(server.asked.length, 2);
  });

  test('the introspection results of many tokens are cached at the same time', async () => {
    const api = await compile(withIntrospection({ cache: { enabled: true, timeout: 60 } }));
    server.pages['/introspect'] = { active: true, sub: 'ann' };
    const tokens = ['one', 'two', 'three', 'four'];
    for (const token of [...tokens, ...tokens]) assert.equal((await send(api, token)).status, 0);
    assert.equal(server.asked.length, tokens.length);
  });

  test('inactive tokens are cached briefly, failures not at all; a TTL of 0 is unlimited', async () => {
    const api = await compile(withIntrospection({ cache: { enabled: true, timeout: 0 } }));
    server.isUnavailable = true;
    await send(api, 'later');
    server.isUnavailable = false;
    server.pages['/introspect'] = { active: false };
    await send(api, 'later');
    await send(api, 'later');
    assert.equal(server.asked.length, 2);
    bench.time.nowMs += 2000;
    server.pages['/introspect'] = { active: true, sub: 'ann' };
    assert.equal((await send(api, 'later')).status, 0);
    bench.time.nowMs += 1_000_000_000;
    assert.equal((await send(api, 'later')).status, 0);
    assert.equal(server.asked.length, 3);
  });

  test('introspection results are not shared between APIs', async () => {
    const asked = withIntrospection({ cache: { enabled: true, timeout: 60 } });
    const api = await compile(asked);
    server.pages['/introspect'] = { active: true, sub: 'ann' };
    await send(api, 'shared');
    const other = await bench.compile({ api_id: 'other', external_oauth: { enabled: true, providers: [asked] } });
    server.pages['/introspect'] = { active: false };
    assert.equal((await send(other, 'shared')).status, 401);
  });
});
