import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addApi, addApp, addPlan, addProduct, requestPortal, toFileForm } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../tests/support/site-client.ts';

const names = ['anonymous', 'outsider', 'colleague', 'member', 'org admin', 'admin'] as const;
type VisitorName = (typeof names)[number];
const inTeam: readonly VisitorName[] = ['member', 'org admin', 'admin'];

const document = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '1' },
  paths: { '/orders': { get: { operationId: 'listOrders', responses: {} } } },
};
/** 1 × 1 pixel. */
const image = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

onEveryEngine('visibility of objects of organisations', app => {
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  const clients = {} as Record<VisitorName, SiteClient>;
  let fixture: Awaited<ReturnType<typeof createFixture>>;
  before(async () => {
    fixture = await createFixture();
  });

  /** Users of two organisations; a product of one team, and an app of its member with a credential. */
  async function createFixture() {
    const organisation = await ok('POST', '/organisations', { Name: `Own ${createPublicId()}` });
    const other = await ok('POST', '/organisations', { Name: `Other ${createPublicId()}` });
    const team = await ok('POST', `/organisations/${organisation.ID}/teams`, { Name: 'Team' });
    const second = await ok('POST', `/organisations/${organisation.ID}/teams`, { Name: 'Second' });
    const inOwn = { OrganisationID: organisation.ID, Role: 'consumer-team-member' };
    const users = {
      outsider: await addSiteDeveloper(app(), { OrganisationID: other.ID, Role: 'consumer-admin' }),
      colleague: await addSiteDeveloper(app(), { ...inOwn, Teams: [second.ID] }),
      member: await addSiteDeveloper(app(), { ...inOwn, Teams: [team.ID], First: `First${createPublicId()}` }),
      'org admin': await addSiteDeveloper(app(), { ...inOwn, Role: 'consumer-admin', Teams: [team.ID] }),
      admin: await addSiteDeveloper(app(), { Role: 'provider-admin' }),
    };
    clients.anonymous = createSiteClient(app());
    for (const name of names.slice(1)) clients[name] = await signedInClient(app(), users[name as keyof typeof users]);
    const invited = { Email: `i-${createPublicId()}@example.org`, OrganisationID: organisation.ID, Teams: [team.ID] };
    const invitation = await ok('POST', '/invitations', invited, 201);
    return { users, organisation, team, invitation, ...(await createOffer(team.ID, users.member.ID)) };
  }

  async function createOffer(teamId: number, userId: number) {
    const APIID = await addApi(app());
    const product = await addProduct(app(), { APIDetails: [{ APIID }], DisplayName: `Product${createPublicId()}` });
    const plan = await addPlan(app());
    const contents = { Products: [product.ID], Plans: [plan.ID], OrgCatalogues: [{ TeamID: teamId }] };
    await ok('POST', '/catalogues', { Name: `c-${createPublicId()}`, ...contents });
    const upload = (path: string, file: FormData) =>
      app().ask('POST', `/portal-api/products/${product.ID}/${path}`, { body: file });
    assert.equal((await upload(`api-details/${APIID}/oas`, toFileForm(JSON.stringify(document)))).status, 200);
    assert.equal((await upload('logo', toFileForm(image, 'a.png'))).status, 200);
    const doc = { Title: 'First', Content: 'x', Status: 'published', Path: 'first' };
    await ok('POST', `/products/${product.ID}/docs`, doc, 201);
    const change = await ok('POST', `/products/${product.ID}/changelog`, { Kind: 'added', Headline: 'H' }, 201);
    const Version = `v-${createPublicId()}`;
    const terms = await ok('POST', '/terms', { Version, Content: 'x', ProductID: product.ID, Published: true }, 201);
    const owned = await addApp(app(), { UserID: userId, Visibility: 'team', Name: `App${createPublicId()}` });
    const provision = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const { AccessRequestID } = await ok('PUT', `/apps/${owned.ID}/provision`, provision);
    const { Credentials } = await ok('GET', `/access_requests/${AccessRequestID}`);
    return { APIID, product, plan, change, terms, app: owned, requestId: AccessRequestID, credential: Credentials[0] };
  }

  /** Pages that differ from what is expected. Signed-out visitors of private pages are sent to the sign-in. */
  async function listWrongPages(paths: Readonly<Record<string, readonly VisitorName[]>>): Promise<string[]> {
    const wrong: string[] = [];
    for (const [path, sees] of Object.entries(paths))
      for (const name of names) {
        const hidden = name === 'anonymous' && path.startsWith('/portal/private/') ? 303 : 404;
        const { status } = await clients[name].get(path);
        if (status !== (sees.includes(name) ? 200 : hidden)) wrong.push(`${name} ${path}: ${status}`);
      }
    return wrong;
  }

  test('every page of a product of a team is for the team alone: guides, changelog, feed, reference, terms, image', async () => {
    const { product, APIID, terms } = fixture;
    const base = `/portal/catalogue-products/${product.Path}`;
    const below = [
      '',
      '/guides',
      '/guides/first',
      '/changelog',
      '/changelog.xml',
      '/image',
      ...['', '/listorders', '/download'].map(it => `/${APIID}/docs${it}`),
    ];
    const paths = [...below.map(it => base + it), `/portal/terms/${terms.Version}`];
    assert.deepEqual(await listWrongPages(Object.fromEntries(paths.map(path => [path, inTeam]))), []);
    for (const name of names) {
      const sees = inTeam.includes(name);
      for (const path of ['/', '/portal/catalogue-products', `/search?q=${product.DisplayName}`])
        if (!sees) assert.ok(!(await clients[name].get(path)).text.includes(`href="${base}"`), `${name} ${path}`);
      for (const path of ['/sitemap.xml', '/feed.xml', '/llms.txt'])
        assert.ok(!(await clients[name].get(path)).text.includes(product.Path), `${name} ${path}`);
    }
  });

  test('apps, members and requests of an organisation have pages for their own people alone', async () => {
    const { app: owned, users } = fixture;
    const own: readonly VisitorName[] = ['member', 'org admin', 'admin'];
    const wrong = await listWrongPages({
      [`/portal/private/apps/${owned.ID}`]: own,
      [`/portal/private/apps/${owned.ID}/edit`]: own,
      [`/portal/private/apps/${owned.ID}/delete`]: own,
      [`/portal/private/users/${users.member.ID}`]: ['org admin'],
    });
    assert.deepEqual(wrong, []);
    const lists = ['apps', 'analytics', 'users', 'notifications', 'organisation', 'profile'];
    for (const name of ['outsider', 'colleague'] as const)
      for (const list of lists) {
        const { text } = await clients[name].get(`/portal/private/${list}`);
        for (const secret of [owned.Name, users.member.Email, fixture.invitation.Email])
          assert.ok(!text.includes(secret), `${name} ${list} ${secret}`);
      }
  });

  test('forms with the ids of others change nothing and find nothing', async () => {
    const { app: owned, credential, requestId, users, invitation, product, plan, APIID } = fixture;
    const apps = '/portal/private/apps';
    const credentialForm = { client_id: String(owned.ID), cred_id: String(credential.ID) };
    const tried = { product: product.Path, api: APIID, operation: 'listorders', credential: String(credential.ID) };
    const forms: readonly (readonly [path: string, fields: Record<string, string>])[] = [
      [`${apps}/${owned.ID}`, { client_name: 'Taken', visibility: 'personal' }],
      [`${apps}/${owned.ID}/delete`, { confirmation: owned.Name }],
      [`${apps}/${owned.ID}/requests/${requestId}/cancel`, {}],
      [`${apps}/${owned.ID}/credentials/${credential.ID}/change-plan`, { new_plan_id: String(plan.ID) }],
      ...['reveal', 'roll', 'end', 'delete', 'update'].map(
        mode => ['/portal/private/credentials', { ...credentialForm, mode }] as const,
      ),
      [`/portal/private/users/${users.member.ID}`, { role: 'consumer-admin' }],
      [`/portal/private/users/${users.member.ID}/remove`, { new_owner: String(users.outsider.ID) }],
      [`/portal/private/users/invitations/${invitation.ID}/cancel`, {}],
      [`/portal/private/users/invitations/${invitation.ID}/resend`, {}],
      [`/portal/private/subscriptions/${product.Path}`, { wanted: 'yes' }],
      ['/portal/private/cart/provision', { product: product.Path, plan: String(plan.ID), catalogue: '3' }],
      ['/portal/private/api/try', { ...tried, format: 'json' }],
      ['/portal/private/api/try/sign-in', tried],
    ];
    const before = JSON.stringify(await readState());
    const wrong: string[] = [];
    for (const [path, fields] of forms)
      for (const name of ['outsider', 'colleague'] as const) {
        const { status, text } = await clients[name].post(path, fields);
        if (status !== 404 || text.includes(credential.Credential)) wrong.push(`${name} ${path}: ${status}`);
      }
    assert.deepEqual(wrong, []);
    assert.equal(JSON.stringify(await readState()), before);
  });

  const readState = async () => [
    await ok('GET', `/apps/${fixture.app.ID}`),
    await ok('GET', `/users/${fixture.users.member.ID}`),
    await ok('GET', `/invitations/${fixture.invitation.ID}`),
    await ok('GET', `/access_requests/${fixture.requestId}`),
  ];

  test('operations by id are for administrators of the portal alone, with a session too', async () => {
    const { product, change, terms, app: owned, requestId, credential, invitation, organisation, team } = fixture;
    const [menu] = [await ok('POST', '/menus', { Name: 'M', Path: `m-${createPublicId()}`, Items: [] }, 201)];
    const paths = [
      `products/${product.ID}/changelog/${change.ID}`,
      `terms/${terms.ID}/acceptances`,
      `menus/${menu.ID}`,
      'categories',
      `invitations/${invitation.ID}`,
      `organisations/${organisation.ID}/teams/${team.ID}`,
      `apps/${owned.ID}`,
      `access_requests/${requestId}`,
      `apps/${owned.ID}/access-requests/${requestId}/credentials/${credential.ID}`,
      'credentials',
      'organisation-requests',
      'invite-codes',
      'oauth-providers',
      'audit-logs',
    ];
    const wrong: string[] = [];
    for (const path of paths)
      for (const name of names) {
        const { status } = await clients[name].get(`/portal-api/${path}`);
        if (status !== (name === 'admin' ? 200 : 401)) wrong.push(`${name} ${path}: ${status}`);
      }
    assert.deepEqual(wrong, []);
  });
});
