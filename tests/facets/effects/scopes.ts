import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import { makeCertificate } from '../../support/certificates.ts';
import { bearer, mintSignedToken, policyFor, publicSource, publishes } from '../auth-methods.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** Scope checks and token exchange. */

const components = {
  securitySchemes: {
    jwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    mine: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/t', scopes: { known: '' } } } },
    keys: { type: 'apiKey', in: 'header', name: 'X-Key' },
  },
};
const header = { enabled: true, name: 'Authorization' };
const thing = (security?: JsonObject[]) => ({
  '/thing': { get: { operationId: 'getThing', responses: {}, ...(security && { security }) } },
});

/** A document with signed tokens; `mine` are members of its scheme, `places` the locations of the token. */
async function createSignedIn(
  at: Ground,
  mine: JsonObject,
  places: JsonObject = { header },
  authentication: JsonObject = {},
) {
  const jwt = { enabled: true, ...places, source: publicSource, signingMethod: 'ecdsa' };
  const securitySchemes = {
    jwt: { ...jwt, defaultPolicies: [await policyFor(at)] },
    mine: { enabled: true, ...places, ...mine },
  };
  return {
    components,
    security: [{ jwt: [], mine: ['base'] }],
    paths: thing([{ mine: ['read'] }]),
    x: { server: { authentication: { enabled: true, securitySchemes, ...authentication } } },
  };
}
const createScheme = (mine: JsonObject): JsonObject => ({ server: { authentication: { securitySchemes: { mine } } } });

async function gets(at: Served, status: number, headers: Record<string, string> = {}, path = '/thing') {
  const answer = await at.call(path, { headers });
  assert.equal(answer.status, status, answer.text);
  return answer;
}

const metadataRows = 'enabled,wellKnownPath,resource,authorizationServers';
const published = {
  resource: 'urn:x',
  authorization_servers: ['https://id.example'],
  bearer_methods_supported: ['header'],
};
const metadata = {
  enabled: true,
  wellKnownPath: 'about',
  resource: 'urn:x',
  authorizationServers: ['https://id.example'],
};

const endpointOf = ({ id }: Ground) => `/${id}/token`;
const providerOf = (at: Ground, more: JsonObject = {}): JsonObject => ({
  name: 'one',
  grantType: 'token-exchange',
  issuers: ['me'],
  tokenEndpoint: at.upstream.url + endpointOf(at),
  clientAuth: { method: 'client_secret_post', clientId: 'gw', clientSecret: 'word', certId: 'none' },
  defaultTarget: { audience: 'all', scopes: ['a', 'b'] },
  timeout: '5s',
  customParams: { extra: 'more' },
  cache: { enabled: true, mode: 'derived', maxTimeout: '1h', timeout: '0s', safetyMargin: '1m' },
  ...more,
});
const exchanging = (...providers: JsonObject[]) => ({ tokenExchange: { enabled: true, providers } });

/** Enables token exchange at the upstream; returns its requests so far. */
function exchanges(at: Ground, lasts = 600): Record<string, string>[] {
  const asked: Record<string, string>[] = [];
  publishes(at.upstream, {
    [endpointOf(at)](body) {
      asked.push(Object.fromEntries(new URLSearchParams(body)));
      return { access_token: `new-${asked.length}`, expires_in: lasts };
    },
  });
  return asked;
}

/** Reads the token that the upstream received. */
async function fetchSwapped(at: Served, claims: JsonObject = {}): Promise<string> {
  const { body } = await gets(at, 200, { authorization: bearer({ sub: 'ann', iss: 'me', ...claims }) });
  return body.headers.authorization;
}

export const scopes: readonly Effect[] = [
  {
    rows: 'oauth2.enabled,headerEnabled,headerName,scopeCheckEnabled,scopeClaims,scopeSeparator,scopeSource endpoints.scopeCheck.enabled',
    promise: 'a token needs the scopes of the document in the configured claims',
    oas: async at => {
      const scopeCheck = { enabled: true, claimNames: ['rights'], separator: ',', scopeSource: 'operation' };
      const oas = await createSignedIn(at, { scopeCheck }, { header: { enabled: true, name: 'X-Token' } });
      return { ...oas, x: { ...oas.x, middleware: { operations: { getThing: { scopeCheck: { enabled: true } } } } } };
    },
    async observe(at) {
      const holding = (claims: JsonObject) => ({ 'x-token': mintSignedToken({ sub: 'ann', ...claims }) });
      await gets(at, 200, holding({ rights: 'read,more' }));
      await gets(at, 403, holding({ rights: 'read more' }));
      await gets(at, 403, holding({ scope: 'read' }));
      await at.change(createScheme({ scopeCheck: { scopeSource: 'union' } }));
      await gets(at, 403, holding({ rights: 'read' }));
      await gets(at, 200, holding({ rights: 'read,base' }));
      await at.change(createScheme({ header: { name: 'X-Elsewhere' } }));
      await gets(at, 401, holding({ rights: 'read,base' }));
      await at.change(createScheme({ header: { enabled: false } }));
      await gets(at, 401, holding({ rights: 'read,base' }));
      await at.change({ ...createScheme({ header: { enabled: true, name: 'X-Token' } }) });
      await at.change({ middleware: { operations: { getThing: { scopeCheck: { enabled: false } } } } });
      await gets(at, 200, holding({}));
      await at.change({ middleware: { operations: { getThing: { scopeCheck: { enabled: true } } } } });
      await gets(at, 403, holding({}));
      await at.change(createScheme({ scopeCheck: { enabled: false } }));
      await gets(at, 200, holding({}));
      await at.change(createScheme({ scopeCheck: { enabled: true } }));
      await at.change(createScheme({ enabled: false }));
      await gets(at, 200, holding({}));
    },
  },
  {
    rows: 'oauth2.queryEnabled,queryName,cookieEnabled,cookieName',
    promise: 'scopes are read from tokens in the query and in cookies',
    oas: at =>
      createSignedIn(
        at,
        { scopeCheck: { enabled: true } },
        { query: { enabled: true, name: 'q' }, cookie: { enabled: true, name: 'c' } },
      ),
    async observe(at) {
      const token = mintSignedToken({ sub: 'ann', scope: 'read base' });
      const inCookie = { cookie: `c=${token}` };
      await gets(at, 200, {}, `/thing?q=${token}`);
      await gets(at, 200, inCookie);
      await at.change(createScheme({ query: { name: 'other' } }));
      await gets(at, 401, {}, `/thing?q=${token}`);
      await at.change(createScheme({ query: { enabled: false } }));
      await gets(at, 401, {}, `/thing?other=1&q=${token}`);
      await at.change(createScheme({ cookie: { name: 'other' } }));
      await gets(at, 401, inCookie);
    },
  },
  {
    rows: 'oauth2.metadataEnabled,wellKnownPath,resource,authorizationServers,autoDeriveScopes',
    promise: 'resource metadata names the authorization servers and the scopes',
    oas: at => createSignedIn(at, { protectedResourceMetadata: { ...metadata, autoDeriveScopes: true } }),
    async observe(at) {
      const { body } = await gets(at, 200, {}, '/about');
      assert.deepEqual(body, { ...published, scopes_supported: ['base', 'known', 'read'] });
      await at.change(createScheme({ protectedResourceMetadata: { autoDeriveScopes: false } }));
      assert.deepEqual((await gets(at, 200, {}, '/about')).body, published);
      await at.change(createScheme({ protectedResourceMetadata: { enabled: false } }));
      await gets(at, 400, {}, '/about');
    },
  },
  {
    rows: `metadataDocument.${metadataRows},scopesSupported`,
    promise: 'the legacy resource metadata names the authorization servers',
    oas: at =>
      createSignedIn(at, { scopeCheck: { enabled: false } }, undefined, {
        protectedResourceMetadata: { ...metadata, scopesSupported: ['one'] },
      }),
    async observe(at) {
      assert.deepEqual((await gets(at, 200, {}, '/about')).body, { ...published, scopes_supported: ['one'] });
      await at.change({ server: { authentication: { protectedResourceMetadata: { enabled: false } } } });
      await gets(at, 400, {}, '/about');
    },
  },
  {
    rows: 'oauth2.exchangeEnabled,providers,providers[].name,providers[].grantType,providers[].issuers,providers[].tokenEndpoint,providers[].clientMethod,providers[].clientId,providers[].clientSecret,providers[].certificateId,providers[].audience,providers[].scopes,providers[].timeoutMs,providers[].customParams',
    promise: 'the upstream receives the exchanged token',
    oas: at => createSignedIn(at, exchanging(providerOf(at))),
    async observe(at) {
      const asked = exchanges(at);
      assert.equal(await fetchSwapped(at), 'Bearer new-1');
      const { grant_type, client_id, client_secret, audience, scope, extra } = asked[0]!;
      assert.match(grant_type!, /:token-exchange$/);
      assert.deepEqual([client_id, client_secret, audience, scope, extra], ['gw', 'word', 'all', 'a b', 'more']);
      await gets(at, 403, { authorization: bearer({ sub: 'ann', iss: 'stranger' }) });
      await at.change(createScheme(exchanging(providerOf(at, { grantType: 'jwt-bearer' }))));
      await fetchSwapped(at, { jti: '2' });
      assert.match(asked[1]!.grant_type!, /:jwt-bearer$/);
      const { certPem, keyPem } = makeCertificate({ cn: 'gateway' });
      const { id: certId } = (await at.app.ask('POST', '/api/certs', { body: certPem + keyPem })).body;
      const clientAuth = { method: 'private_key_jwt', clientId: 'gw', certId };
      await at.change(createScheme(exchanging(providerOf(at, { clientAuth }))));
      await fetchSwapped(at, { jti: '3' });
      assert.ok(asked[2]!.client_assertion);
      at.upstream.answer = () => undefined;
      await at.change(createScheme(exchanging(providerOf(at, { timeout: '50ms' }))));
      await gets(at, 502, { authorization: bearer({ sub: 'ann', iss: 'me', jti: '4' }) });
      await assert.rejects(
        at.change(createScheme(exchanging(providerOf(at), providerOf(at, { issuers: ['another'] })))),
        /is not unique/,
      );
    },
  },
  {
    rows: 'oauth2.providers[].cacheEnabled,providers[].cacheMode,providers[].cacheMostMs,providers[].cacheMs,providers[].safetyMarginMs',
    promise: 'an exchanged token is cached for the configured time',
    oas: at => createSignedIn(at, exchanging(providerOf(at))),
    async observe(at) {
      const kept = { enabled: true, mode: 'derived', maxTimeout: '1h', timeout: '0s', safetyMargin: '1m' };
      const asked = exchanges(at);
      let caller = 0;
      for (const [cache, times] of [
        [{}, 1],
        [{ enabled: false }, 2],
        [{ maxTimeout: '1ns' }, 2],
        [{ safetyMargin: '20m' }, 2],
        [{ mode: 'static' }, 2],
        [{ mode: 'static', timeout: '1h' }, 1],
      ] as const) {
        await at.change(createScheme(exchanging(providerOf(at, { cache: { ...kept, ...cache } }))));
        asked.length = 0;
        const authorization = bearer({ sub: 'ann', iss: 'me', jti: String(caller++) });
        await gets(at, 200, { authorization });
        await gets(at, 200, { authorization });
        assert.equal(asked.length, times, JSON.stringify(cache));
      }
    },
  },
  {
    rows: 'endpoints.exchange.enabled,audience,scopes',
    promise: 'an operation can set its own audience of exchanged tokens',
    oas: async at => {
      const oas = await createSignedIn(at, exchanging(providerOf(at)));
      const exchange = { enabled: true, audience: 'bills', scopes: ['pay'] };
      return { ...oas, x: { ...oas.x, middleware: { operations: { getThing: { exchange } } } } };
    },
    async observe(at) {
      const asked = exchanges(at);
      await fetchSwapped(at);
      await at.change({ middleware: { operations: { getThing: { exchange: { enabled: false } } } } });
      await fetchSwapped(at);
      const targets = asked.map(({ audience, scope }) => [audience, scope]);
      assert.deepEqual(targets, [
        ['bills', 'pay'],
        ['all', 'a b'],
      ]);
    },
  },
  {
    rows: 'authentication.processingMode,requirements',
    promise: 'any one of several security requirements is enough, also of the gateway extension',
    oas: async at => {
      const authentication = { securityProcessingMode: 'compliant', security: [['keys']] };
      const oas = await createSignedIn(at, { scopeCheck: { enabled: false } }, undefined, authentication);
      const keys = { enabled: true };
      return {
        ...oas,
        x: {
          server: {
            authentication: {
              ...oas.x.server.authentication,
              securitySchemes: { ...oas.x.server.authentication.securitySchemes, keys },
            },
          },
        },
      };
    },
    async observe(at) {
      const key = { 'x-key': await at.key() };
      const token = { authorization: bearer({ sub: 'ann' }) };
      await gets(at, 200, key);
      await gets(at, 200, token);
      await gets(at, 401);
      await at.change({ server: { authentication: { securityProcessingMode: 'legacy' } } });
      await gets(at, 400, key);
      await at.change({
        server: { authentication: { securityProcessingMode: 'compliant', security: [['keys', 'jwt']] } },
      });
      await gets(at, 400, key);
      await gets(at, 200, token);
    },
  },
  {
    rows: 'detail.tracing',
    promise: 'the upstream receives traceparent',
    classic: () => ({ detailed_tracing: true }),
    oas: () => ({ x: { server: { detailedTracing: { enabled: true } } } }),
    async observe(at) {
      const trace = '0af7651916cd43dd8448eb211c80319c';
      const traceparent = `00-${trace}-b7ad6b7169203331-00`;
      const fetchTraceparent = async (headers: Record<string, string> = {}) =>
        (await gets(at, 200, headers)).body.headers.traceparent as string | undefined;
      assert.match((await fetchTraceparent())!, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      assert.match(
        (await fetchTraceparent({ traceparent }))!,
        new RegExp(`^00-${trace}-(?!b7ad6b7169203331)[0-9a-f]{16}-00$`),
      );
      await at.change(
        at.format === 'classic' ? { detailed_tracing: false } : { server: { detailedTracing: { enabled: false } } },
      );
      assert.equal(await fetchTraceparent(), undefined);
      assert.equal(await fetchTraceparent({ traceparent }), traceparent);
    },
  },
];
