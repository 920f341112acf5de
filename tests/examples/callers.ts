import { createHash, createHmac } from 'node:crypto';
import { jwkOf, mint } from '../support/tokens.ts';
import type { Example, Values } from './example.ts';
import type { Place } from './place.ts';

/** Who may call, and how they show it. */

const missing = /Authorization field missing/;
const basic = (name: string, password: string) => Buffer.from(`${name}:${password}`).toString('base64');

async function user(at: Place, apiId: string, name: string): Promise<Values> {
  const body = { access_rights: { [apiId]: {} }, basic_auth_data: { password: 'a-password' } };
  await at.manage('POST', `/api/apis/keys/basic/${name}`, body);
  return { CREDENTIALS: basic(name, 'a-password') };
}

function publishKeys({ partner, issuer }: Place): void {
  partner.pages['/jwks'] = { keys: [jwkOf(issuer.publicKey, { kid: 'one' })] };
  partner.pages['/.well-known/openid-configuration'] = { issuer: partner.url, jwks_uri: `${partner.url}/jwks` };
}
const token = ({ issuer }: Place, claims: object) =>
  mint({ sub: 'ann', exp: 4_000_000_000, ...claims }, issuer.privateKey, { header: { kid: 'one' } });
const rpcJson = { 'Content-Type': 'application/json' };
const toolList = {
  jsonrpc: '2.0',
  id: 1,
  result: { tools: ['find_order', 'add_order', 'delete_order'].map(name => ({ name })) },
};
const rpc = (method: string, params: object = {}) => ({
  ask: 'POST /tools/',
  headers: { ...rpcJson, Authorization: '$KEY' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});
const bearer = { Authorization: 'Bearer $TOKEN' };

/** Signs address and date as callers do. */
function signRequest(keyId: string, target: string): Values {
  const date = new Date().toUTCString();
  const text = `(request-target): ${target}\ndate: ${date}`;
  const signature = encodeURIComponent(createHmac('sha256', 'a-shared-secret').update(text).digest('base64'));
  const parts = { keyId, algorithm: 'hmac-sha256', headers: '(request-target) date', signature };
  return {
    DATE: date,
    SIGNATURE: Object.entries(parts)
      .map(([name, value]) => `${name}="${value}"`)
      .join(','),
  };
}

export const callers: Readonly<Record<string, Example>> = {
  'plugin-auth': {
    calls: [
      { ask: 'GET /club/7', headers: { 'X-Pass': 'swordfish' }, status: 200, reaches: 'GET /7' },
      { ask: 'GET /club/7', headers: { 'X-Pass': 'herring' }, status: 403, says: /Key not authorised/, reaches: null },
    ],
  },
  keyless: { calls: [{ ask: 'GET /weather/oslo?units=metric', status: 200, reaches: 'GET /oslo?units=metric' }] },
  key: {
    after: async (at, id) => ({ KEY: await at.key(id) }),
    calls: [
      { ask: 'GET /orders/7', status: 401, says: missing, reaches: null },
      { ask: 'GET /orders/7', headers: { 'X-Api-Key': 'a-guess' }, status: 403, reaches: null },
      {
        ask: 'GET /orders/7',
        headers: { 'X-Api-Key': '$KEY' },
        status: 200,
        reaches: 'GET /7',
        sees: { 'x-api-key': null },
      },
      { ask: 'GET /orders/7?api_key=$KEY', status: 200, reaches: 'GET /7' },
      { ask: 'GET /orders/7', headers: { Cookie: 'api_key=$KEY' }, status: 200, sees: { cookie: null } },
    ],
  },
  'key-signed': {
    async after(at, id) {
      const key = await at.key(id);
      const text = `${key}REPLACE-WITH-A-SHARED-SECRET${Math.floor(Date.now() / 1000)}`;
      return { KEY: key, SIGNATURE: createHash('sha256').update(text).digest('hex') };
    },
    calls: [
      { ask: 'GET /payments/7', headers: { Authorization: '$KEY' }, status: 401, says: /The signature does not fit/ },
      { ask: 'GET /payments/7', headers: { Authorization: '$KEY', 'X-Signature': '$SIGNATURE' }, status: 200 },
    ],
  },
  'key-by-certificate': {
    async after(at, id) {
      const certificate = await at.certificate(at.client.certPem);
      return { KEY: await at.key(id, { certificate }) };
    },
    calls: [
      { ask: 'GET https://localhost:9301/meters/7', status: 401, reaches: null },
      { ask: 'GET https://localhost:9301/meters/7', withCertificate: true, status: 200, reaches: 'GET /7' },
    ],
  },
  basic: {
    after: (at, id) => user(at, id, 'ann'),
    calls: [
      { ask: 'GET /reports/sales', status: 401, says: missing, tells: { 'www-authenticate': /Basic/ } },
      { ask: 'GET /reports/sales', headers: { Authorization: `Basic ${basic('ann', 'guess')}` }, status: 401 },
      {
        ask: 'GET /reports/sales',
        headers: { Authorization: 'Basic $CREDENTIALS' },
        status: 200,
        sees: { authorization: null },
      },
    ],
  },
  hmac: {
    async after(at, id) {
      const keyId = await at.key(id, { hmac_enabled: true, hmac_string: 'a-shared-secret' });
      return signRequest(keyId, 'post /telemetry/pump');
    },
    calls: [
      {
        ask: 'POST /telemetry/pump',
        body: '7',
        status: 400,
        says: /Authorization field missing, malformed or invalid/,
      },
      {
        ask: 'POST /telemetry/pump',
        headers: { Date: '$DATE', Authorization: 'Signature $SIGNATURE' },
        body: '7',
        status: 200,
        gets: /^7$/,
      },
      { ask: 'POST /telemetry/fan', headers: { Date: '$DATE', Authorization: 'Signature $SIGNATURE' }, status: 400 },
    ],
  },
  jwt: {
    async after(at, id) {
      publishKeys(at);
      for (const policy of ['catalogue-readers', 'catalogue-writers']) await at.policy(policy, id);
      const claims = { iss: 'https://login.example', aud: 'catalogue' };
      return { TOKEN: token(at, claims), WRITER: token(at, { ...claims, scope: 'catalogue:write' }) };
    },
    calls: [
      { ask: 'GET /catalogue/tea', status: 400, says: missing },
      { ask: 'GET /catalogue/tea', headers: { Authorization: 'Bearer x.y.z' }, status: 403 },
      { ask: 'GET /catalogue/tea', headers: bearer, status: 200, reaches: 'GET /tea', sees: { authorization: null } },
      { ask: 'GET /catalogue/tea', headers: { Authorization: 'Bearer $WRITER' }, status: 200 },
    ],
  },
  oidc: {
    async after(at, id) {
      publishKeys(at);
      await at.policy('profile-users', id);
      const claims = { iss: at.partner.url, aud: 'shop-app' };
      return { TOKEN: token(at, claims), OTHER: token(at, { ...claims, aud: 'another-app' }) };
    },
    calls: [
      { ask: 'GET /profile/me', headers: bearer, status: 200, reaches: 'GET /me' },
      { ask: 'GET /profile/me', headers: { Authorization: 'Bearer $OTHER' }, status: 401 },
    ],
  },
  oauth: {
    async after(at, id) {
      await at.policy('shoppers', id);
      const client = { api_id: id, policy_id: 'shoppers', redirect_uri: 'https://shop.example/back' };
      const { client_id, secret } = await at.manage('POST', '/gw/oauth/clients/create', client);
      const headers = { Authorization: `Basic ${basic(client_id, secret)}` };
      const asked = { method: 'POST', headers, body: new URLSearchParams({ grant_type: 'client_credentials' }) };
      const reply = await fetch(`${at.app.url.gateway}/shop/oauth/token`, asked);
      return { TOKEN: ((await reply.json()) as { access_token: string }).access_token };
    },
    calls: [
      { ask: 'GET /shop/cart', status: 400, reaches: null },
      { ask: 'GET /shop/cart', headers: { Authorization: 'Bearer a-guess' }, status: 403, reaches: null },
      { ask: 'GET /shop/cart', headers: bearer, status: 200, reaches: 'GET /cart' },
    ],
  },
  'external-token': {
    async after({ partner }) {
      partner.pages['/introspect'] = (body: string) => ({ active: body.includes('a-good-token'), sub: 'ann' });
      return { TOKEN: 'a-good-token' };
    },
    calls: [
      { ask: 'GET /library/books', status: 400, says: /authorization field missing/ },
      { ask: 'GET /library/books', headers: { Authorization: 'Bearer a-guess' }, status: 401, reaches: null },
      { ask: 'GET /library/books', headers: bearer, status: 200, reaches: 'GET /books' },
    ],
  },
  'external-jwt': {
    async after(at) {
      publishKeys(at);
      return { TOKEN: token(at, {}) };
    },
    calls: [
      { ask: 'GET /tickets/7', headers: { Authorization: 'Bearer x.y.z' }, status: 401, reaches: null },
      { ask: 'GET /tickets/7', headers: bearer, status: 200, reaches: 'GET /7' },
    ],
  },
  'several-ways': {
    after: async (at, id) => ({ ...(await user(at, id, 'bob')), KEY: await at.key(id) }),
    calls: [
      { ask: 'GET /ledger/entries', headers: { Authorization: 'Basic $CREDENTIALS' }, status: 401, reaches: null },
      { ask: 'GET /ledger/entries', headers: { 'X-Machine-Key': '$KEY' }, status: 401, reaches: null },
      {
        ask: 'GET /ledger/entries',
        headers: { Authorization: 'Basic $CREDENTIALS', 'X-Machine-Key': '$KEY' },
        status: 200,
        reaches: 'GET /entries',
      },
    ],
  },
  alternatives: {
    after: async (at, id) => ({ ...(await user(at, id, 'cem')), KEY: await at.key(id) }),
    calls: [
      { ask: 'GET /photos/7', headers: { 'X-Api-Key': '$KEY' }, status: 200, reaches: 'GET /7' },
      { ask: 'GET /photos/7', headers: { Authorization: 'Basic $CREDENTIALS' }, status: 200, reaches: 'GET /7' },
      { ask: 'GET /photos/7', headers: { 'X-Api-Key': 'a-guess' }, status: 401, reaches: null },
    ],
  },
  scopes: {
    async after(at, id) {
      publishKeys(at);
      await at.policy('note-takers', id);
      return { TOKEN: token(at, { scope: 'notes:read' }) };
    },
    calls: [
      { ask: 'GET /notes/all', status: 400, reaches: null },
      { ask: 'GET /notes/all', headers: bearer, status: 200, reaches: 'GET /all' },
      {
        ask: 'POST /notes/all',
        headers: bearer,
        status: 403,
        says: /"insufficient_scope".*"scope":"notes:write"/,
        tells: { 'www-authenticate': /resource_metadata="https:\/\/api\.example\/notes\// },
        reaches: null,
      },
      {
        ask: 'GET /notes/.well-known/oauth-protected-resource',
        status: 200,
        says: /"authorization_servers":\["https:\/\/login\.example"\].*"notes:read"/,
        reaches: null,
      },
      { ask: 'GET /notes/count', headers: bearer, status: 200 },
    ],
  },
  'token-exchange': {
    async after(at, id) {
      publishKeys(at);
      await at.policy('wallet-owners', id);
      at.partner.pages['/token'] = (body: string) => ({
        access_token: `token-for-${new URLSearchParams(body).get('audience')}`,
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: 3600,
      });
      return { TOKEN: token(at, { iss: 'https://login.example' }) };
    },
    calls: [
      { ask: 'GET /wallet/balance', headers: bearer, status: 200, sees: { authorization: 'Bearer token-for-wallet' } },
      { ask: 'GET /wallet/rates', headers: bearer, status: 200, sees: { authorization: 'Bearer token-for-rates' } },
      { ask: 'GET /wallet/balance', headers: { Authorization: 'Bearer x.y.z' }, status: 403, reaches: null },
    ],
  },
  'client-certificates': {
    before: async at => ({ 'ID-OF-THE-CLIENT-AUTHORITY': await at.certificate(at.authority.certPem) }),
    calls: [
      { ask: 'GET https://localhost:9301/clinics/7', status: 403, reaches: null },
      { ask: 'GET https://localhost:9301/clinics/7', withCertificate: true, status: 200, reaches: 'GET /7' },
    ],
  },
  endpoints: {
    after: async (at, id) => ({ KEY: await at.key(id) }),
    calls: [
      { ask: 'GET /pets/list', status: 200, reaches: 'GET /list' },
      { ask: 'GET /pets/LIST', status: 200 },
      { ask: 'GET /pets/7', status: 401, reaches: null },
      { ask: 'GET /pets/7', headers: { Authorization: '$KEY' }, status: 200, reaches: 'GET /7' },
      { ask: 'DELETE /pets/7', headers: { Authorization: '$KEY' }, status: 403, says: /endpoint/, reaches: null },
      { ask: 'PUT /pets/7', headers: { Authorization: '$KEY' }, status: 403, reaches: null },
    ],
  },
  addresses: {
    calls: [
      { ask: 'GET /intranet/news', status: 200, reaches: 'GET /news' },
      { ask: 'GET /intranet/news', headers: { 'X-Forwarded-For': '10.0.0.7' }, status: 200 },
      { ask: 'GET /intranet/news', headers: { 'X-Forwarded-For': '10.0.0.66' }, status: 403, reaches: null },
      { ask: 'GET /intranet/news', headers: { 'X-Forwarded-For': '192.0.2.1' }, status: 403, reaches: null },
    ],
  },
  mcp: {
    surface: '/gw/mcps',
    answer: (_request, response) => void response.writeHead(200, rpcJson).end(JSON.stringify(toolList)),
    async after(at, id) {
      const rights = { api_id: id, mcp_access_rights: { tools: { blocked: ['add_.*'] } } };
      return { KEY: await at.key(id, { access_rights: { [id]: rights } }) };
    },
    calls: [
      {
        ...rpc('tools/list'),
        status: 200,
        reaches: 'POST /mcp',
        says: /^\{[^{]*\{"tools":\[\{"name":"find_order"\}\]\}\}$/,
      },
      { ...rpc('tools/call', { name: 'find_order' }), status: 200, gets: /"name":"find_order"/ },
      { ...rpc('tools/call', { name: 'add_order' }), status: 403, says: /-32002/, reaches: null },
      { ...rpc('tools/call', { name: 'delete_order' }), status: 403, says: /-32002/, reaches: null },
      { ...rpc('tools/list'), headers: rpcJson, status: 401, says: /-32001/, reaches: null },
    ],
  },
  expiry: {
    calls: [{ ask: 'GET /beta/features', status: 200, tells: { 'x-gw-api-expires': 'Thu, 31 Dec 2099 23:59:00 GMT' } }],
  },
  cors: {
    calls: [
      {
        ask: 'OPTIONS /maps/tiles/7',
        headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' },
        status: 204,
        tells: { 'access-control-allow-origin': 'https://app.example', 'access-control-max-age': '600' },
        reaches: null,
      },
      {
        ask: 'GET /maps/tiles/7',
        headers: { Origin: 'https://app.example' },
        status: 200,
        tells: { 'access-control-allow-credentials': 'true', 'access-control-expose-headers': 'X-Total' },
      },
      {
        ask: 'GET /maps/tiles/7',
        headers: { Origin: 'https://evil.example' },
        status: 200,
        tells: { 'access-control-allow-origin': null },
      },
    ],
  },
};
