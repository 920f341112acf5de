import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { buildBodyExample } from '#operations/openapi.ts';
import { catalogue } from '../../src/catalogue.ts';
import { type Answer, type Asked, onEveryEngine, type TestApp } from '../support/app.ts';
import { makeAuthority } from '../support/certificates.ts';
import { eventually, startUpstream, type Upstream } from '../support/upstream.ts';
import { handling, webhook } from '../support/webhooks.ts';

/** Ids of another organisation in every path parameter of every dashboard operation. */

type Each = (typeof catalogue)[number];
type Ids = Readonly<Record<string, string>>;

const withIds = (catalogue as readonly Each[]).filter(it => it.surface === 'dashboard' && it.path.includes('{'));
const range: Ids = { startDay: '1', startMonth: '1', startYear: '2026', endDay: '2', endMonth: '1', endYear: '2026' };
/** Parameters that hold no id; passkeys are those of one user, whose tests are in `passkeys.test.ts`. */
const noIds: Ids = { ...range, location: 'nothing/here', passkeyId: 'unknown' };

async function ok(app: TestApp, method: string, path: string, asked: Asked = {}) {
  const { status, text, body } = await app.ask(method, path, asked);
  assert.ok(status < 300, `${method} ${path}: ${text}`);
  return body;
}

/** One object of each kind in the organisation of the operator. */
async function createObjects(app: TestApp, upstreamUrl: string): Promise<Ids> {
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
  const { Meta: user } = await ok(app, 'POST', '/admin/users', { body: person });
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
  const DiscoverURL = 'https://idp.example/.well-known/openid-configuration';
  const UseProviders = [{ Name: 'openid-connect', Key: 'client', Secret: 'planted', DiscoverURL }];
  const profile = { Name: 'P', ProviderName: 'SocialProvider', ProviderConfig: { UseProviders } };
  return {
    ...noIds,
    keyHashes: keyHash,
    profileId: (await ok(app, 'POST', '/api/sso/profiles', { body: profile })).Meta,
    apiId,
    keyId,
    keyHash,
    deliveryId: delivery.id,
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

/** The example without references to objects that the organisation does not have. */
const toAcceptedBody = (it: Each) =>
  JSON.parse(
    JSON.stringify(buildBodyExample(it), (name, value) => (referenceNames.includes(name) ? undefined : value)),
  );
const referenceNames = ['access_rights', 'access_rights_array', 'userIds', 'userGroupIds', 'group_id', 'policy_id'];

const toPath = (it: Each, ids: Ids) =>
  it.path.replaceAll(/\{([\w-]+)\}/g, (_whole, name: string) => {
    assert.ok(ids[name] !== undefined, `${it.path}: the test has no ${name}`);
    return encodeURIComponent(ids[name]).replaceAll('%2F', '/');
  });

/** Ids of the same form that no object has. */
const toUnknown = (ids: Ids): Ids =>
  Object.fromEntries(
    Object.entries(ids).map(([name, id]) => [name, name in noIds ? id : /^\d+$/.test(id) ? `9${id}9999` : flip(id)]),
  );
const flip = (id: string) => id.replaceAll(/[0-9a-f]/g, digit => (15 - Number.parseInt(digit, 16)).toString(16));

const mask = ({ text }: Answer, ids: Ids) =>
  Object.entries(ids)
    .filter(([name]) => !(name in noIds))
    .reduce((masked, [, id]) => masked.replaceAll(id, '…'), text);

onEveryEngine('Ids of another organisation', app => {
  let upstream: Upstream;
  let ids: Ids;
  let credential: string;
  let stored: unknown;
  before(async () => {
    upstream = await startUpstream();
    ids = await createObjects(app(), upstream.url);
    ({ accessKey: credential } = await app().stranger());
    stored = await readAll();
  });
  after(() => upstream.close());

  const readable = withIds.filter(it => it.method === 'GET' && !/deliver|audit|usage|activity/.test(it.path));
  async function readAll() {
    const found: Record<string, unknown> = {};
    for (const it of readable) found[it.name] = (await app().ask('GET', toPath(it, ids))).body;
    return found;
  }

  for (const it of withIds) {
    describe(it.name, () => {
      test('responds to the id of an object of another organisation as to an unknown one', async () => {
        const type = typeof it.accepts === 'object' ? it.accepts.only[0]! : 'application/json';
        const asked: Asked = {
          credential,
          ...(it.body ? { body: JSON.stringify(toAcceptedBody(it)), headers: { 'content-type': type } } : {}),
        };
        const unknown = toUnknown(ids);
        const first = await app().ask(it.method, toPath(it, unknown), asked);
        const second = await app().ask(it.method, toPath(it, ids), asked);
        assert.equal(second.status, first.status, `${first.text} ${second.text}`);
        assert.equal(mask(second, ids), mask(first, unknown));
      });
    });
  }

  test('no object of the other organisation has changed', async () => {
    assert.deepEqual(await readAll(), stored);
  });
});
