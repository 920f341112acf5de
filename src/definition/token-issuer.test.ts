import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addTokenIssuer } from './token-issuer.ts';

const issuer = { issuer: 'https://idp.example', jwksUri: 'https://idp.example/jwks', scopes: { orders: 'p1' } };
const classic = { name: 'a', use_keyless: false, enable_jwt: true, jwt_signing_method: 'rsa' };

const oas = (scheme: object) => ({
  openapi: '3.0.3',
  info: { title: 'a', version: '1' },
  paths: {},
  components: { securitySchemes: { tokens: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
  security: [{ tokens: [] }],
  'x-gw-api-gateway': {
    info: { name: 'a', state: { active: true } },
    server: { listenPath: { value: '/a/' }, authentication: { enabled: true, securitySchemes: { tokens: scheme } } },
    upstream: { url: 'http://127.0.0.1:9/' },
  },
});
const schemeOf = (document: ReturnType<typeof oas>) =>
  document['x-gw-api-gateway'].server.authentication.securitySchemes.tokens as Record<string, unknown>;

describe('Token issuers of definitions', () => {
  test('a classic definition gets key set and scopes beside those it has, and does not change the second time', () => {
    const before = {
      ...classic,
      jwt_jwks_uris: [{ url: 'https://other.example/jwks', cache_timeout: 60 }],
      jwt_scope_to_policy_mapping: { invoices: 'p2' },
    };
    const added = addTokenIssuer('classic', before, issuer);
    assert.ok(added.ok && added.isChanged);
    const { jwt_jwks_uris, scopes } = added.definition as unknown as Record<string, unknown>;
    assert.deepEqual(jwt_jwks_uris, [
      { url: 'https://other.example/jwks', cache_timeout: 60 },
      { url: 'https://idp.example/jwks' },
    ]);
    assert.deepEqual(scopes, { jwt: { scope_to_policy: { invoices: 'p2', orders: 'p1' } } });
    const again = addTokenIssuer('classic', added.definition, issuer);
    assert.ok(again.ok && !again.isChanged);
  });

  test('a document gets them in its JWT scheme, and its issuer where it lists issuers', () => {
    const scheme = { enabled: true, signingMethod: 'rsa', allowedIssuers: ['https://other.example'] };
    const added = addTokenIssuer('oas', oas(scheme), issuer);
    assert.ok(added.ok);
    assert.deepEqual(schemeOf(added.definition), {
      ...scheme,
      jwksURIs: [{ url: 'https://idp.example/jwks' }],
      scopes: { scopeToPolicyMapping: [{ scope: 'orders', policyId: 'p1' }] },
      allowedIssuers: ['https://other.example', 'https://idp.example'],
    });
    const again = addTokenIssuer('oas', added.definition, issuer);
    assert.ok(again.ok && !again.isChanged);
  });

  test('a definition without JWTs, with another key source, an HMAC method or a taken scope is refused', () => {
    const refuse = (more: object) => {
      const added = addTokenIssuer('classic', { ...classic, ...more }, issuer);
      return added.ok ? '' : added.reason;
    };
    assert.match(refuse({ enable_jwt: false, use_standard_auth: true }), /does not use JSON Web Tokens/);
    assert.match(refuse({ jwt_source: 'c2VjcmV0' }), /key source/);
    assert.match(refuse({ jwt_signing_method: 'hmac' }), /signing method hmac/);
    assert.match(refuse({ scopes: { jwt: { scope_to_policy: { orders: 'p9' } } } }), /scope orders to another policy/);
    assert.equal(refuse({ jwt_source: Buffer.from(issuer.jwksUri).toString('base64') }), '');
  });
});
