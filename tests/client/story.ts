import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './schema.ts';
import type { StoryPlaces } from './story-places.ts';

/**
 * The story of an installation, with a client that was generated from `/openapi.json`. `client.test.ts` copies this file
 * beside the generated types, compiles both, and runs it.
 */

interface Result<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

function take<T>({ data, error, response }: Result<T>): T {
  assert.ok(data !== undefined, `${response.url} responded with ${response.status}: ${JSON.stringify(error)}`);
  return data;
}

/** The administrator of a new organisation. */
async function bootstrap({ dashboard, adminSecret }: StoryPlaces) {
  const admin = createClient<paths>({ baseUrl: dashboard, headers: { 'Admin-Auth': adminSecret } });
  const { Meta: orgId } = take(await admin.POST('/admin/organisations', { body: { owner_name: 'Acme' } }));
  assert.ok(typeof orgId === 'string');
  const user = { email_address: 'ann@acme.example', first_name: 'Ann', last_name: 'Lee', active: true, org_id: orgId };
  const { Message: accessKey } = take(await admin.POST('/admin/users', { body: user }));
  const params = { path: { orgId } };
  assert.equal(take(await admin.GET('/admin/organisations/{orgId}', { params })).owner_name, 'Acme');
  const client = createClient<paths>({ baseUrl: dashboard, headers: { Authorization: accessKey } });
  return { client, orgId };
}

type Client = Awaited<ReturnType<typeof bootstrap>>['client'];

async function addPeople(client: Client) {
  const group = { name: 'Readers', user_permissions: { apis: 'read' } } as const;
  const { Meta: groupId } = take(await client.POST('/api/usergroups', { body: group }));
  assert.ok(typeof groupId === 'string');
  const bob = { email_address: 'bob@acme.example', first_name: 'Bob', last_name: 'Ray', active: true };
  const body = { ...bob, group_id: groupId, user_permissions: { apis: 'read' } } as const;
  take(await client.POST('/api/users', { body }));
  const { users } = take(await client.GET('/api/users', { params: { query: { p: -1 } } }));
  assert.deepEqual(users.map(user => user.email_address).sort(), ['ann@acme.example', 'bob@acme.example']);
}

async function addCertificate(client: Client, certificate: string) {
  const form = new FormData();
  form.set('file', new Blob([certificate]), 'certificate.pem');
  const { id } = take(await client.POST('/api/certs', { body: { file: '' }, bodySerializer: () => form }));
  const { cert_basics } = take(await client.GET('/api/certs'));
  assert.deepEqual(
    cert_basics?.map(it => it.id),
    [id],
  );
}

async function addHook(client: Client, { upstream }: StoryPlaces) {
  const body = { method: 'POST', target_path: `${upstream}/hook`, name: 'Alerts' } as const;
  const { ID: hookId } = take(await client.POST('/api/hooks', { body }));
  return take(await client.GET('/api/hooks/{hookId}', { params: { path: { hookId } } }));
}

async function addApi(client: Client, { upstream }: StoryPlaces, name: string, more: object) {
  const proxy = { listen_path: `/${name}/`, target_url: upstream, strip_listen_path: true };
  const version_data = { not_versioned: true, versions: { Default: { name: 'Default' } } };
  const definition = { name, proxy, version_data, ...more };
  const { ID: apiId } = take(await client.POST('/api/apis', { body: { api_definition: definition } }));
  const read = take(await client.GET('/api/apis/{apiId}', { params: { path: { apiId } } }));
  assert.equal(read.api_definition.name, name);
  return apiId;
}

async function addPolicy(client: Client, apiIds: readonly string[]) {
  const rights = apiIds.map(api_id => [api_id, { api_id, versions: ['Default'] }]);
  const body = { name: 'Gold', rate: 1000, per: 60, access_rights: Object.fromEntries(rights) };
  const { Message: policyId } = take(await client.POST('/api/portal/policies', { body }));
  const { Data } = take(await client.GET('/api/portal/policies'));
  assert.deepEqual(
    Data?.map(policy => policy.name),
    ['Gold'],
  );
  return policyId;
}

async function addKey(client: Client, policyId: string) {
  const body = { apply_policies: [policyId], alias: 'shop' };
  const { key_id: keyId } = take(await client.POST('/api/keys', { body }));
  const read = take(await client.GET('/api/keys/{keyId}', { params: { path: { keyId } } }));
  assert.equal(read.data.alias, 'shop');
  return keyId;
}

async function addOauthClient(client: Client, apiId: string, policyId: string) {
  const body = { redirect_uri: 'http://127.0.0.1/callback', policy_id: policyId };
  const made = take(await client.POST('/api/apis/oauth/{apiId}', { params: { path: { apiId } }, body }));
  const { apps } = take(await client.GET('/api/apis/oauth/{apiId}', { params: { path: { apiId } } }));
  assert.deepEqual(
    apps.map(app => app.client_id),
    [made.client_id],
  );
  return made;
}

async function findHits(client: Client, apiId: string): Promise<number> {
  const range = { startDay: 1, startMonth: 1, startYear: 2020, endDay: 31, endMonth: 12, endYear: 2099 };
  const path = { apiId, ...range };
  const route = '/api/usage/apis/{apiId}/{startDay}/{startMonth}/{startYear}/{endDay}/{endMonth}/{endYear}';
  const usage = take(await client.GET(route, { params: { path } }));
  // The operation also offers CSV.
  assert.ok(typeof usage !== 'string');
  return usage.data?.[0]?.hits ?? 0;
}

export async function runStory(places: StoryPlaces): Promise<void> {
  const { gateway } = places;
  const { client } = await bootstrap(places);
  await addPeople(client);
  await addCertificate(client, places.certificate);
  await addHook(client, places);
  const orders = await addApi(client, places, 'orders', { use_keyless: false, use_standard_auth: true });
  const oauth_meta = { allowed_access_types: ['client_credentials'] };
  const bills = await addApi(client, places, 'bills', { use_keyless: false, use_oauth2: true, oauth_meta });
  const policyId = await addPolicy(client, [orders, bills]);
  const key = await addKey(client, policyId);
  const app = await addOauthClient(client, bills, policyId);
  await places.waitUntilServed();

  const call = async (path: string, authorization: string) =>
    (await fetch(gateway + path, { headers: { authorization } })).status;
  assert.equal(await call('/orders/7', ''), 401);
  assert.equal(await call('/orders/7', key), 200);
  const token = await fetch(`${gateway}/bills/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${app.client_id}:${app.secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token } = (await token.json()) as { access_token: string };
  assert.equal(await call('/bills/7', `Bearer ${access_token}`), 200);
  await places.eventually(async () => assert.equal(await findHits(client, orders), 2));
  await places.eventually(async () => assert.equal(await findHits(client, bills), 1));
}
