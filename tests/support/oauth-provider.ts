import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import type { Api } from '../../src/gateway/routing/api.ts';
import { type Bench, openBench, orgId, startMs } from './step-harness.ts';

const gatewaySecret = 'the secret of this gateway, for login pages';
const everyGrant = ['authorization_code', 'refresh_token', 'password', 'client_credentials'];

export const redirectUri = 'https://good.example/back';
export const benchRights = { bench: { versions: ['Default'] } };
export const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
/** RFC 7636, 4.1. */
export const codeVerifier = 'v'.repeat(43);

/** Definition of an API that issues tokens by every grant. */
export const oauthDefinition = (meta: object = {}, more: object = {}) => ({
  use_oauth2: true,
  oauth_meta: {
    allowed_access_types: everyGrant,
    allowed_authorize_types: ['code', 'token'],
    auth_login_redirect: 'https://login.example/in',
    ...meta,
  },
  ...more,
});

interface SentForm {
  headers?: Record<string, string>;
  to?: Api;
  method?: string;
}

/** OAuth provider without sockets, for the tests of a `describe`: one API with five clients, and a clock. */
export function openOauthProvider() {
  let bench: Bench;
  let api: Api;
  before(async () => {
    bench = await openBench({ 'gateway.secret': gatewaySecret, 'oauth.notification_retry_seconds': '0' });
    api = await bench.compile(oauthDefinition());
    await bench.policy({ id: 'shop-policy', access_rights: benchRights, rate: 5, per: 1, meta_data: { plan: 'p' } });
    await bench.policy({ id: 'closed', state: 'draft', access_rights: benchRights, rate: 5, per: 1 });
    await addClient('shop', { redirect_uri: `${redirectUri}, myapp://back` });
    await addClient('single');
    await addClient('bare', { redirect_uri: '' });
    await addClient('poor', { policy_id: '' });
    await addClient('late', { policy_id: 'closed' });
  });
  after(() => bench.close());
  beforeEach(() => {
    bench.time.nowMs = startMs;
  });

  async function addClient(client_id: string, more: object = {}): Promise<void> {
    await bench.oauthClients.insert({
      id: client_id,
      org_id: orgId,
      api_id: 'bench',
      client_id,
      secret: `${client_id} secret`,
      redirect_uri: redirectUri,
      policy_id: 'shop-policy',
      description: '',
      client_name: '',
      meta_data: { team: 'a' },
      created_at: '2030-01-01T00:00:00Z',
      ...more,
    });
  }

  async function post(target: string, form: Record<string, string> | string, sent: SentForm = {}) {
    const { headers = {}, to = api, method = 'POST' } = sent;
    const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const given = await bench.ask(to, { method, target, headers: { ...type, ...headers }, body });
    return { ...given, json: given.body === '' ? undefined : JSON.parse(given.body) };
  }
  const submitConsent = (form: Record<string, string> = {}, secret = gatewaySecret, to = api) =>
    post(
      '/gw/oauth/authorize-client/',
      { response_type: 'code', client_id: 'shop', redirect_uri: redirectUri, ...form },
      { headers: { 'X-Gw-Authorization': secret }, to },
    );
  const token = (form: Record<string, string>, id = 'shop', secret = `${id} secret`, to = api) =>
    post('/oauth/token', form, { headers: { Authorization: basic(id, secret) }, to });
  const call = (accessToken: string) => bench.send(api, { headers: { Authorization: `Bearer ${accessToken}` } });
  const newCode = async (form: Record<string, string> = {}): Promise<string> => (await submitConsent(form)).json.code;
  const redeemCode = (code: string, more: Record<string, string> = {}, id?: string) =>
    token({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...more }, id);

  return { bench: () => bench, api: () => api, addClient, post, submitConsent, token, call, newCode, redeemCode };
}

export type TokenResponse = Awaited<ReturnType<ReturnType<typeof openOauthProvider>['post']>>;

export function expectDenied({ status, json }: TokenResponse, error: string): void {
  assert.deepEqual([status, json.error, typeof json.error_description], [403, error, 'string']);
}
