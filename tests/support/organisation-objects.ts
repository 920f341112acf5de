import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { createPublicId } from '#base/ids.ts';
import type { Asked, TestApp } from './app.ts';
import { makeAuthority } from './certificates.ts';
import { eventually } from './upstream.ts';
import { handling, webhook } from './webhooks.ts';

/** Ids of objects by the name of the path parameter that takes them. */
export type ObjectIds = Readonly<Record<string, string>>;

/** An id of the same form that no object has. */
export const flipId = (id: string): string =>
  /^\d+$/.test(id) ? `9${id}9999` : id.replaceAll(/[0-9a-f]/g, digit => (15 - Number.parseInt(digit, 16)).toString(16));

const range: ObjectIds = {
  startDay: '1',
  startMonth: '1',
  startYear: '2026',
  endDay: '2',
  endMonth: '1',
  endYear: '2026',
};
/** Parameters that hold no id; passkeys are those of one user, whose tests are in `passkeys.test.ts`. */
export const noIds: ObjectIds = {
  ...range,
  location: 'nothing/here',
  passkeyId: 'unknown',
  revision: '1',
  hostname: hostname(),
};

/** Sends a request that must succeed. */
export async function expectOk(app: TestApp, method: string, path: string, asked: Asked = {}) {
  const { status, text, body } = await app.ask(method, path, asked);
  assert.ok(status < 300, `${method} ${path}: ${text}`);
  return body;
}

/** One object of each kind, in the organisation of the operator or in that of another administrator. */
export async function createObjects(
  app: TestApp,
  upstreamUrl: string,
  owner: { readonly accessKey?: string; readonly orgId?: string } = {},
): Promise<ObjectIds> {
  const ok = (of: TestApp, method: string, path: string, asked: Asked = {}) => {
    const isOwn = owner.accessKey !== undefined && path.startsWith('/api/') && asked.credential === undefined;
    return expectOk(of, method, path, isOwn ? { ...asked, credential: owner.accessKey! } : asked);
  };
  const definition = (more: object) => ({
    name: `Foreign ${createPublicId()}`,
    proxy: { listen_path: `/f${createPublicId()}/`, target_url: upstreamUrl },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    ...more,
  });
  const api = (more: object) => ok(app, 'POST', '/api/apis', { body: { api_definition: definition(more) } });
  const { ID: apiId } = await api({ use_keyless: false, use_oauth2: true });
  const person = { first_name: 'A', last_name: 'B', email_address: `${createPublicId()}@example.org`, active: true };
  const password = 'correct horse battery';
  const ofOrganisation = owner.orgId === undefined ? {} : { org_id: owner.orgId };
  const { Meta: user } = await ok(app, 'POST', '/admin/users', { body: { ...person, ...ofOrganisation } });
  await ok(app, 'PUT', `/admin/users/${user.id}`, { body: { password } });
  const json = { 'content-type': 'application/json' };
  await ok(app, 'POST', '/api/session', {
    credential: null,
    headers: json,
    body: { username: person.email_address, password },
  });
  const { sessions } = await ok(app, 'GET', `/api/users/${user.id}/sessions`);
  const group = { name: 'Readers', user_permissions: { apis: 'read' } };
  const hook = { method: 'POST', target_path: `${upstreamUrl}/hook`, name: 'Foreign' };
  const access_rights = { [apiId]: { api_id: apiId, versions: ['Default'] } };
  const { key_id: keyId, key_hash: keyHash } = await ok(app, 'POST', '/api/keys', { body: { access_rights } });
  const username = `u${createPublicId()}`;
  await ok(app, 'POST', `/api/apis/keys/basic/${username}`, {
    body: { access_rights, basic_auth_data: { password } },
  });
  const policy = { name: `P ${createPublicId()}`, access_rights };
  const { Message: policyId } = await ok(app, 'POST', '/api/portal/policies', { body: policy });
  const client = { redirect_uri: 'http://127.0.0.1/callback', policy_id: policyId };
  const { client_id: clientId } = await ok(app, 'POST', `/api/apis/oauth/${apiId}`, { body: client });
  const form = new FormData();
  form.set('file', new Blob([makeAuthority(`F ${createPublicId()}`).certPem]), 'a.pem');
  const { audit_logs } = await ok(app, 'GET', '/api/audit-logs');
  const alerted = definition({
    use_keyless: false,
    use_standard_auth: true,
    ...handling('AuthFailure', webhook(`${upstreamUrl}/event`)),
  });
  await ok(app, 'POST', '/api/apis', { body: { api_definition: alerted } });
  await app.application.waitForDataPlane();
  await fetch(app.url.gateway + alerted.proxy.listen_path, { headers: { authorization: 'unknown key' } });
  const delivery = await eventually(async () => {
    const { deliveries } = await ok(app, 'GET', '/api/deliveries');
    assert.ok(deliveries.length > 0);
    return deliveries[0];
  });
  const logId = await eventually(async () => {
    const { data } = await ok(app, 'GET', '/api/logs?start=0&end=4000000000');
    assert.ok(data.length > 0);
    return data[0].id;
  });
  const DiscoverURL = 'https://idp.example/.well-known/openid-configuration';
  const UseProviders = [{ Name: 'openid-connect', Key: 'client', Secret: 'planted', DiscoverURL }];
  const profile = { Name: 'P', ProviderName: 'SocialProvider', ProviderConfig: { UseProviders } };
  return {
    ...noIds,
    nodeId: (await ok(app, 'GET', '/api/system/nodes')).data.nodes[0]?.id ?? 'unknown',
    keyHashes: keyHash,
    profileId: (await ok(app, 'POST', '/api/sso/profiles', { body: profile })).Meta,
    apiId,
    keyId,
    keyHash,
    deliveryId: delivery.id,
    logId,
    currentBaseApiId: apiId,
    nextBaseApiId: apiId,
    username,
    policyId,
    clientId,
    OAuthClientID: clientId,
    userId: user.id,
    sessionId: sessions[0].id,
    groupId: (await ok(app, 'POST', '/api/usergroups', { body: group })).Meta,
    hookId: (await ok(app, 'POST', '/api/hooks', { body: hook })).ID,
    certId: (await ok(app, 'POST', '/api/certs', { body: form })).id,
    assetId: (await ok(app, 'POST', '/api/assets', { body: { name: 'T', data: { tags: [] } } })).Meta,
    auditLogId: audit_logs[0]._id,
  };
}
