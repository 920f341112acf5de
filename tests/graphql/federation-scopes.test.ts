import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { type Federation, federation2, type SubgraphFixture, startFederation } from '../support/federation.ts';
import { openApi, publish } from '../support/traffic.ts';

const subgraphs: Record<string, SubgraphFixture> = {
  accounts: {
    sdl: `${federation2('key authenticated requiresScopes')}
      type Account @key(fields: "id") { id: ID!
        balance: Int @requiresScopes(scopes: [["read:balance", "read:account"], ["admin"]]) }
      type Query { account: Account secret: Int @authenticated }`,
    root: { account: { id: '1', balance: 5 }, secret: 7 },
    entities: { Account: ({ id }) => ({ id, balance: 5 }) },
  },
};

const signingKey = 'a signing key of the token issuer, shared';
const encodePart = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signed token of a client, with its scopes. */
function signToken(claims: object, key = signingKey): string {
  const body = `${encodePart({ alg: 'HS256', typ: 'JWT' })}.${encodePart({ sub: 'ann', exp: 4_000_000_000, ...claims })}`;
  return `${body}.${createHmac('sha256', key).update(body).digest('base64url')}`;
}

describe('GraphQL federation: @requiresScopes with JWTs', () => {
  let app: TestApp;
  let shop: Federation;
  let url: string;
  before(async () => {
    app = await startApp('sqlite');
    shop = await startFederation(app, subgraphs, {});
    const supergraph = { subgraphs: shop.subgraphs };
    const definition = openApi(
      { url: 'http://127.0.0.1:1' },
      {
        use_keyless: false,
        enable_jwt: true,
        jwt_signing_method: 'hmac',
        jwt_source: Buffer.from(signingKey).toString('base64'),
        jwt_identity_base_field: 'sub',
        jwt_default_policies: ['graph-clients'],
        graphql: { enabled: true, execution_mode: 'supergraph', version: '2', supergraph },
      },
    );
    const { api_id } = definition;
    const access_rights = { [api_id]: { api_id, api_name: 'graph', versions: ['Default'] } };
    url = await publish(app, definition);
    const policy = { id: 'graph-clients', name: 'Graph', state: 'active', access_rights };
    const { status, text } = await app.ask('POST', '/api/portal/policies', { body: policy });
    assert.equal(status, 200, text);
    await app.application.waitForDataPlane();
  });
  after(async () => {
    await app?.close();
    await shop?.close();
  });

  async function query(document: string, token: string): Promise<{ status: number; body: unknown }> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: document }) });
    return { status: reply.status, body: await reply.json() };
  }

  const balance = '{ account { id balance } }';
  const allowed: Readonly<Record<string, object>> = {
    'all scopes of one list': { scope: 'read:account openid read:balance' },
    'the one scope of another list': { scope: 'admin' },
    'scopes in an array': { scope: ['read:balance', 'read:account'] },
  };
  for (const [name, claims] of Object.entries(allowed))
    test(`a token with ${name} reads the guarded field`, async () => {
      const { body } = await query(balance, signToken(claims));
      assert.deepEqual(body, { data: { account: { id: '1', balance: 5 } } });
    });

  const refused: Readonly<Record<string, object>> = {
    'no scopes': {},
    'one of two scopes of a list': { scope: 'read:balance' },
    'scopes of two lists, neither complete': { scope: 'read:account administrator' },
    'a scope in another case': { scope: 'ADMIN' },
  };
  for (const [name, claims] of Object.entries(refused))
    test(`a token with ${name} is refused the guarded field, and no subgraph is called`, async () => {
      shop.takeRequests();
      const { body } = await query(balance, signToken(claims));
      assert.deepEqual(body, { errors: [{ message: 'field: balance is restricted on type: Account' }] });
      assert.deepEqual(shop.takeRequests(), []);
      const { body: rest } = await query('{ account { id } secret }', signToken(claims));
      assert.deepEqual(rest, { data: { account: { id: '1' }, secret: 7 } });
    });

  test('a token of another issuer that claims the scope is refused before the graph is read', async () => {
    shop.takeRequests();
    const { status } = await query(balance, signToken({ scope: 'admin' }, 'another signing key of the same length'));
    assert.equal(status, 403);
    assert.deepEqual(shop.takeRequests(), []);
  });
});
