import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from '../../../tests/support/app.ts';
import { addApp, addDeveloper, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';

const visitors = [
  'anonymous',
  'stranger',
  'neighbour',
  'outsider',
  'colleague',
  'member',
  'owner',
  'org admin',
  'admin',
] as const;
type VisitorName = (typeof visitors)[number];

const signedIn = visitors.slice(1);
const inOrganisation: VisitorName[] = ['colleague', 'member', 'owner', 'org admin', 'admin'];
const inTeam: VisitorName[] = ['member', 'owner', 'org admin', 'admin'];

type Row = { kind: string; id: number; sees: readonly VisitorName[] };
const toAsk =
  (app: TestApp) =>
  (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app, method, `/portal-api${path}`, body, status);

/** Users of two organisations and of the default one. */
async function createUsers(app: TestApp) {
  const ok = toAsk(app);
  const organisation = await ok('POST', '/organisations', { Name: 'Own' });
  const other = await ok('POST', '/organisations', { Name: 'Other' });
  const team = await ok('POST', `/organisations/${organisation.ID}/teams`, { Name: 'Team' });
  const second = await ok('POST', `/organisations/${organisation.ID}/teams`, { Name: 'Second' });
  const member = { OrganisationID: organisation.ID, Role: 'consumer-team-member' };
  const users = {
    stranger: await addDeveloper(app, { Role: 'consumer-admin' }),
    neighbour: await addDeveloper(app, { Role: 'consumer-admin' }),
    outsider: await addDeveloper(app, { OrganisationID: other.ID, Role: 'consumer-admin' }),
    colleague: await addDeveloper(app, { ...member, Teams: [second.ID] }),
    member: await addDeveloper(app, { ...member, Teams: [team.ID] }),
    owner: await addDeveloper(app, { ...member, Teams: [team.ID] }),
    'org admin': await addDeveloper(app, { ...member, Role: 'consumer-admin', Teams: [team.ID] }),
    admin: await addDeveloper(app, { Role: 'provider-admin' }),
  };
  const rows: Row[] = [
    { kind: 'users', id: users.owner.ID, sees: inTeam },
    { kind: 'users', id: users.colleague.ID, sees: ['colleague', 'org admin', 'admin'] },
    { kind: 'users', id: users.stranger.ID, sees: ['stranger', 'admin'] },
    { kind: 'users', id: users.admin.ID, sees: ['admin'] },
    { kind: 'teams', id: team.ID, sees: inTeam },
    { kind: 'teams', id: second.ID, sees: ['colleague', 'org admin', 'admin'] },
    { kind: 'organisations', id: organisation.ID, sees: inOrganisation },
  ];
  return { users, organisation, team, rows };
}

/** A catalogue with a product, a doc and a plan. */
async function publish(app: TestApp, catalogue: object, sees: readonly VisitorName[]) {
  const ok = toAsk(app);
  const [product, plan] = [await addProduct(app), await addPlan(app)];
  const doc = { Title: 'D', Content: 'c', Status: 'published', Path: 'd' };
  const { ID: docId } = await ok('POST', `/products/${product.ID}/docs`, doc, 201);
  const contents = { Name: `c-${createPublicId()}`, Products: [product.ID], Plans: [plan.ID] };
  const made = await ok('POST', '/catalogues', { ...contents, ...catalogue });
  const rows: Row[] = [
    { kind: 'catalogues', id: made.ID, sees },
    { kind: 'products', id: product.ID, sees },
    { kind: 'plans', id: plan.ID, sees },
    { kind: 'docs', id: docId, sees },
  ];
  return { product, plan, catalogue: made, rows };
}

async function createContent(app: TestApp, productId: number): Promise<Row[]> {
  const ok = toAsk(app);
  const page = (Status: string) =>
    ok('POST', '/pages', { Title: 'P', Path: `/${createPublicId()}`, Template: 'page', Status });
  const post = (Status: string) =>
    ok('POST', '/posts', { Title: 'B', Content: 'c', Path: createPublicId(), Status }, 201);
  const draft = { Title: 'Draft', Content: 'c', Status: 'draft', Path: 'draft' };
  return [
    { kind: 'docs', id: (await ok('POST', `/products/${productId}/docs`, draft, 201)).ID, sees: ['admin'] },
    { kind: 'pages', id: (await page('Published')).ID, sees: visitors },
    { kind: 'pages', id: (await page('Draft')).ID, sees: ['admin'] },
    { kind: 'posts', id: Number((await post('published')).ID), sees: visitors },
    { kind: 'posts', id: Number((await post('review')).ID), sees: ['admin'] },
  ];
}

/** Objects of every kind; each row names who sees the object. */
async function createMatrix(app: TestApp) {
  const { users, organisation, team, rows } = await createUsers(app);
  const offers = {
    public: await publish(app, { VisibilityStatus: 'Public' }, visitors),
    developers: await publish(app, { VisibilityStatus: 'Private' }, signedIn),
    organisation: await publish(app, { OrgCatalogues: [{ OrganisationID: organisation.ID }] }, inOrganisation),
    team: await publish(app, { OrgCatalogues: [{ TeamID: team.ID }] }, inTeam),
  };
  const appOf = (Visibility: string, UserID = users.owner.ID) => addApp(app, { Visibility, UserID });
  const shared = await appOf('team');
  const held = await addProduct(app);
  const provision = { PlanID: offers.public.plan.ID, ProductIDs: [held.ID], ProvisionImmediately: true };
  const { AccessRequestID } = await toAsk(app)('PUT', `/apps/${shared.ID}/provision`, provision);
  rows.push(
    ...Object.values(offers).flatMap(offer => offer.rows),
    ...(await createContent(app, offers.public.product.ID)),
    { kind: 'products', id: held.ID, sees: inTeam },
    { kind: 'apps', id: (await appOf('organisation')).ID, sees: inOrganisation },
    { kind: 'apps', id: shared.ID, sees: inTeam },
    { kind: 'apps', id: (await appOf('personal')).ID, sees: ['owner', 'org admin', 'admin'] },
    { kind: 'apps', id: (await appOf('personal', users.stranger.ID)).ID, sees: ['stranger', 'admin'] },
    { kind: 'access-requests', id: AccessRequestID, sees: inTeam },
  );
  return { users, rows, held, team, offers };
}

onEveryEngine('visibility of the live portal', app => {
  const read = (kind: string, id: number | '', userId?: number) => {
    const user = userId === undefined ? '' : `&user_id=${userId}`;
    const path = id === '' ? kind : `${kind}/${id}`;
    return app().ask('GET', `/portal-api/view-as/${path}?${id === '' ? 'per_page=1000' : ''}${user}`);
  };

  test('every object is in lists and by id for those it is for, and 404 for all others', async () => {
    const { users, rows } = await createMatrix(app());
    const wrong: string[] = [];
    for (const visitor of visitors) {
      const userId = visitor === 'anonymous' ? undefined : users[visitor].ID;
      for (const { kind, id, sees } of rows) {
        const { status } = await read(kind, id, userId);
        const { body } = await read(kind, '', userId);
        const isListed = body.some((it: { ID: number }) => it.ID === id);
        const expected = sees.includes(visitor);
        if ((status === 200) !== expected || isListed !== expected || (!expected && status !== 404))
          wrong.push(`${visitor} ${kind} ${id}: ${status}, listed ${isListed}, expected ${expected}`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  test('a deactivated user sees what a visitor who is not signed in sees', async () => {
    const { users, offers } = await createMatrix(app());
    await requestPortal(app(), 'PUT', `/portal-api/users/${users.owner.ID}`, { Active: false });
    const status = async (id: number) => (await read('products', id, users.owner.ID)).status;
    assert.deepEqual([await status(offers.team.product.ID), await status(offers.public.product.ID)], [404, 200]);
  });

  test('a product without its policy is not offered, and stays visible to those with access', async () => {
    const { users, held, offers } = await createMatrix(app());
    const { records } = app().application.installation;
    for (const { ID } of [held, offers.public.product]) {
      const where = { table: 'portal_products' as const, id: ID };
      const row = await records.db
        .selectFrom(where.table)
        .select('body')
        .where('id', '=', ID)
        .executeTakeFirstOrThrow();
      const body = JSON.stringify({ ...JSON.parse(row.body), Hidden: true });
      await records.db.updateTable(where.table).set({ body }).where('id', '=', ID).execute();
    }
    assert.equal((await read('products', offers.public.product.ID)).status, 404);
    assert.equal((await read('products', held.ID, users.owner.ID)).status, 200);
    assert.equal((await read('products', held.ID, users.colleague.ID)).status, 404);
  });

  test('a user outside of a team loses what the team sees', async () => {
    const { users, team, offers } = await createMatrix(app());
    await requestPortal(app(), 'DELETE', `/portal-api/catalogues/${offers.organisation.catalogue.ID}`);
    assert.equal((await read('products', offers.team.product.ID, users.member.ID)).status, 200);
    const OrganisationID = 1;
    await requestPortal(app(), 'PUT', `/portal-api/users/${users.member.ID}`, { OrganisationID });
    assert.equal((await read('products', offers.team.product.ID, users.member.ID)).status, 404);
    assert.equal((await read('teams', team.ID, users.member.ID)).status, 404);
  });

  test('an unknown user is refused, and an unknown kind with the nearest one', async () => {
    assert.equal((await read('products', '', 999_999)).status, 422);
    const misspelt = await read('product', '');
    assert.equal(misspelt.status, 422, misspelt.text);
    assert.match(misspelt.text, /products/);
  });
});
