import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { addAccessRequest, addApp, requestPortal } from '../../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../../tests/support/site-client.ts';

const api = '/portal/private/api';
const names = ['me', 'apps', 'requests', 'credentials', 'members', 'usage', 'notifications', 'search'];

onEveryEngine('JSON twins of private pages', app => {
  const read = async (client: SiteClient, path: string) => {
    const { status, text, headers } = await client.get(`${api}/${path}`);
    assert.match(headers.get('content-type')!, /^application\/json/, path);
    return { status, text, body: JSON.parse(text) };
  };

  test('a developer reads the own apps, requests and credentials, without keys', async () => {
    const user = await addSiteDeveloper(app());
    const { app: own, requestId } = await addAccessRequest(app(), {
      app: { UserID: user.ID, Name: `Shop${createPublicId()}` },
    });
    const other = await addAccessRequest(app());
    const client = await signedInClient(app(), user);
    const me = (await read(client, 'me')).body;
    assert.deepEqual([me.ID, me.Email, me.Role], [user.ID, user.Email, 'consumer-admin']);
    const ids = async (path: string) => (await read(client, path)).body.map((it: { ID: number }) => it.ID);
    assert.deepEqual(await ids('apps'), [own.ID]);
    assert.deepEqual(await ids('requests'), [requestId]);
    const { Credentials } = await requestPortal(app(), 'GET', `/portal-api/access_requests/${requestId}`);
    const credentials = await read(client, `credentials?app=${own.ID}`);
    assert.deepEqual([credentials.body.length, credentials.body[0].ID], [1, Credentials[0].ID]);
    assert.ok(!credentials.text.includes(Credentials[0].Credential), 'the key is shown by no twin');
    assert.equal((await read(client, `apps/${own.ID}`)).body.CanEdit, true);
    assert.equal((await read(client, `search?q=${own.Name}`)).body.Apps[0].Path, `/portal/private/apps/${own.ID}`);
    assert.equal((await read(client, 'usage?days=7')).body.days.length, 7);
    for (const path of [`apps/${other.app.ID}`, `credentials?app=${other.app.ID}`, `requests?app=${other.app.ID}`])
      assert.deepEqual((await read(client, path)).status, 404, path);
    assert.equal((await read(client, `usage?app=${other.app.ID}`)).status, 404);
  });

  test('members and notifications are those that the pages show', async () => {
    const organisation = await requestPortal(app(), 'POST', '/portal-api/organisations', { Name: createPublicId() });
    const OrganisationID = organisation.ID;
    const admin = await addSiteDeveloper(app(), { OrganisationID, Role: 'consumer-admin' });
    const member = await addSiteDeveloper(app(), { OrganisationID });
    const client = await signedInClient(app(), admin);
    const emails = (await read(client, 'members')).body.map((it: { Email: string }) => it.Email);
    assert.deepEqual(emails, [admin.Email, member.Email]);
    await app().application.installation.services.portal.notifications.add(admin.ID, 'team', 'Hello.', '/');
    assert.deepEqual(
      (await read(client, 'notifications')).body.map((it: { Title: string }) => it.Title),
      ['Hello.'],
    );
    assert.equal((await read(client, 'me')).body.UnreadNotifications, 1);
    assert.deepEqual((await read(await signedInClient(app(), member), 'notifications')).body, []);
  });

  test('the token of forms is that of me: a form with it is accepted, one without it refused', async () => {
    const client = await signedInClient(app(), await addSiteDeveloper(app()));
    const { CSRFToken: csrf_token } = (await read(client, 'me')).body;
    const form = { client_name: 'By script', visibility: 'personal' };
    assert.equal((await client.post('/portal/private/apps', { ...form, csrf_token: '' })).status, 403);
    assert.equal((await client.post('/portal/private/apps', { ...form, csrf_token })).status, 303);
    assert.deepEqual(
      (await read(client, 'apps')).body.map((it: { Name: string }) => it.Name),
      ['By script'],
    );
  });

  test('signed-out visitors, and developers with terms to accept, read nothing', async () => {
    const anonymous = createSiteClient(app());
    const client = await signedInClient(app(), await addSiteDeveloper(app()));
    for (const name of names) assert.equal((await read(anonymous, name)).status, 401, name);
    const terms = { Version: createPublicId(), Content: 'x', Published: true };
    const { ID } = await requestPortal(app(), 'POST', '/portal-api/terms', terms, 201);
    for (const name of names) assert.equal((await read(client, name)).status, 403, name);
    await requestPortal(app(), 'DELETE', `/portal-api/terms/${ID}`);
    assert.equal((await read(client, 'me')).status, 200);
  });

  test('the search responds with JSON too, own apps only to their owner', async () => {
    const user = await addSiteDeveloper(app());
    const { Name } = await addApp(app(), { UserID: user.ID, Name: `Find${createPublicId()}` });
    const find = async (client: SiteClient) =>
      JSON.parse((await client.get(`/search?format=json&q=${Name}`)).text).Apps;
    assert.equal((await find(await signedInClient(app(), user))).length, 1);
    assert.deepEqual(await find(await signedInClient(app(), await addSiteDeveloper(app()))), []);
    assert.deepEqual(await find(createSiteClient(app())), []);
  });
});
