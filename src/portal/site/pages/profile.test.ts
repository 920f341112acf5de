import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createPublicId } from '#base/ids.ts';
import type { Records } from '#storage/records.ts';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { readLastAudit } from '../../../../tests/support/last-audit.ts';
import { addAccessRequest, addApp, addDeveloper, requestPortal } from '../../../../tests/support/portal.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { createSiteClient, signedInClient } from '../../../../tests/support/site-client.ts';
import { eventually } from '../../../../tests/support/traffic.ts';

/** Transactions that wait for the current one, on PostgreSQL. */
async function countBlocked({ db }: Records): Promise<number> {
  const query = sql<{ blocked: number }>`select count(*)::int as blocked from pg_stat_activity
    where pg_backend_pid() = any(pg_blocking_pids(pid))`;
  return (await query.execute(db)).rows[0]!.blocked;
}

onEveryEngine('profile and team on the portal site', (app, engine) => {
  const aUser = (more: Record<string, unknown> = {}) => addDeveloper(app(), { Password: sitePassword, ...more });

  test('a user changes the name, and nothing else of the account', async () => {
    const user = await aUser();
    const client = await signedInClient(app(), user);
    await client.get('/portal/private/profile');
    for (const first of ['', 'x'.repeat(101), 'Ann\n\nhttps://example.org/', 'Ann\u2028Lee'])
      assert.equal((await client.post('/portal/private/profile', { first, last: 'x' })).status, 422, first);
    await client.post('/portal/private/profile', { first: 'Ann', last: 'Lee', Role: 'super-admin', Email: 'x@y.z' });
    assert.deepEqual(await readLastAudit(app()), ['updateOwnProfile', `portal:${user.ID}`, '', 303]);
    const stored = await requestPortal(app(), 'GET', `/portal-api/users/${user.ID}`);
    const { First, Last, Role, Email } = stored;
    assert.deepEqual([First, Last, Role, Email], ['Ann', 'Lee', user.Role, user.Email]);
  });

  test('a new password needs the current one, and ends the other sessions', async () => {
    const user = await aUser();
    const [client, other] = [await signedInClient(app(), user), await signedInClient(app(), user)];
    const fields = { new_password: 'another long password', confirm_password: 'another long password' };
    const change = (current_password: string) =>
      client.post('/portal/private/profile/password', { current_password, ...fields });
    assert.equal((await change('wrong')).status, 422);
    assert.match((await other.get('/')).text, /Sign out/);
    assert.match((await change(sitePassword)).text, /The password is changed/);
    assert.match((await client.get('/')).text, /Sign out/);
    assert.doesNotMatch((await other.get('/')).text, /Sign out/);
    assert.equal((await createSiteClient(app()).signIn(user.Email, sitePassword)).status, 401);
    assert.equal((await createSiteClient(app()).signIn(user.Email, 'another long password')).status, 303);
  });

  test('a user lists the own sessions and ends them, and none of another user', async () => {
    const user = await aUser();
    const [client, second, third] = [
      await signedInClient(app(), user),
      await signedInClient(app(), user),
      await signedInClient(app(), user),
    ];
    const idsOf = (text: string) => [...text.matchAll(/name="session" value="([^"]+)"/g)].map(([, id]) => id!);
    const isSignedIn = async (it: typeof client) => (await it.get('/portal/private/profile')).status === 200;
    const page = await client.get('/portal/private/profile');
    assert.match(page.text, /This session/);
    assert.match(page.text, /<td title="[^"]*">[\w ]+<\/td>/, 'the client in words');
    const ids = idsOf(page.text);
    assert.equal(ids.length, 2);
    const end = '/portal/private/profile/sessions/end';
    const stranger = await signedInClient(app(), await aUser());
    await stranger.get('/portal/private/profile');
    assert.equal((await stranger.post(end, { session: ids[0]! })).status, 404);
    assert.equal((await client.post(end, { session: ids[0]!, csrf_token: 'guess' })).status, 403);
    assert.deepEqual([await isSignedIn(second), await isSignedIn(third)], [true, true]);
    await client.get('/portal/private/profile');
    assert.equal((await client.post(end, { session: ids[0]! })).status, 303);
    assert.deepEqual(await readLastAudit(app()), ['endOwnSession', `portal:${user.ID}`, '', 303]);
    assert.equal([await isSignedIn(second), await isSignedIn(third)].filter(Boolean).length, 1);
    await client.get('/portal/private/profile');
    assert.equal((await client.post(`${end}-others`, {})).status, 303);
    assert.deepEqual([await isSignedIn(second), await isSignedIn(third)], [false, false]);
    assert.deepEqual(idsOf((await client.get('/portal/private/profile')).text), []);
    assert.ok(await isSignedIn(stranger));
  });

  const path = '/portal-api/extended_attributes/1/custom-attributes';
  const add = async (more: Record<string, unknown>): Promise<{ ID: number; Name: string }> => {
    const id = createPublicId();
    const fields = { Identifier: `a-${id}`, Name: `Attribute ${id}`, Type: 1, ...more };
    return requestPortal(app(), 'POST', path, fields, 201);
  };

  test('an attribute that is closed for users while one sends the form keeps its value', async () => {
    const { ID, Name } = await add({ Behaviour: 1 });
    try {
      const user = await aUser();
      const client = await signedInClient(app(), user);
      await client.get('/portal/private/profile');
      const { records, portal } = app().application.installation.services;
      const closed = Promise.withResolvers<void>();
      const closing = records.write(async () => {
        await portal.attributes.custom.change(ID, it => ({ ...it, Behaviour: 2 }));
        closed.resolve();
        // SQLite has one connection: the form is read after the change.
        if (engine === 'postgres') await eventually(async () => assert.equal(await countBlocked(records), 1));
      });
      await closed.promise;
      const sent = client.post('/portal/private/profile/attributes', { [`attribute_${ID}`]: 'written' });
      await closing;
      const { status, text } = await sent;
      if (engine === 'postgres') {
        assert.equal(status, 422, text);
        assert.ok(text.includes(`${Name} cannot be changed any more`), text);
      }
      const valuePath = `/portal-api/users/${user.ID}/custom-attributes/${ID}`;
      assert.equal((await requestPortal(app(), 'GET', valuePath)).Value, '');
    } finally {
      await requestPortal(app(), 'DELETE', `${path}/${ID}`);
    }
  });

  test('a user edits, sees or does not see an attribute as it says, and writes a write-once one once', async () => {
    const open = await add({ Behaviour: 1, ValidationRegExp: '^[0-9]*$' });
    const [seen, hidden] = [await add({ Behaviour: 2 }), await add({ Behaviour: 3 })];
    const once = await add({ Behaviour: 1, WriteOnceReadMany: true, Description: 'Of the company' });
    const copied = await add({ AddToKeyMetadata: true });
    try {
      const user = await aUser();
      const valuePath = ({ ID }: { ID: number }) => `/portal-api/users/${user.ID}/custom-attributes/${ID}`;
      const readValue = async (it: { ID: number }) => (await requestPortal(app(), 'GET', valuePath(it))).Value;
      await requestPortal(app(), 'PUT', valuePath(seen), { Value: 'set by the administrator' });
      await requestPortal(app(), 'PUT', valuePath(hidden), { Value: 'the hidden value' });
      const client = await signedInClient(app(), user);
      const page = (await client.get('/portal/private/profile')).text;
      assert.match(page, /set by the administrator/);
      assert.match(page, /Of the company\. You can set it once; it cannot be changed later\./);
      assert.ok(!page.includes(hidden.Name) && !page.includes('the hidden value'));
      for (const { ID } of [seen, copied]) assert.ok(!page.includes(`name="attribute_${ID}"`));
      const save = (more: Record<string, string>) => client.post('/portal/private/profile/attributes', more);
      const [openField, onceField] = [`attribute_${open.ID}`, `attribute_${once.ID}`];
      const forged = Object.fromEntries([seen, hidden, copied].map(({ ID }) => [`attribute_${ID}`, 'x']));
      const faulty = await save({ [openField]: 'letters', [onceField]: 'first' });
      assert.equal(faulty.status, 422);
      assert.match(faulty.text, /does not match/);
      assert.deepEqual([await readValue(open), await readValue(once)], ['', '']);
      assert.equal((await save({ [openField]: '1', csrf_token: 'guess' })).status, 403);
      await client.get('/portal/private/profile');
      assert.equal((await save({ [openField]: '42', [onceField]: 'first', ...forged })).status, 303);
      assert.deepEqual(await readLastAudit(app()), ['updateOwnAttributes', `portal:${user.ID}`, '', 303]);
      assert.match((await client.get('/portal/private/profile')).text, /first <span class="dim">\(cannot be changed\)/);
      await save({ [openField]: '', [onceField]: 'second' });
      const values = [await readValue(open), await readValue(seen), await readValue(hidden), await readValue(once)];
      assert.deepEqual(values, ['', 'set by the administrator', 'the hidden value', 'first']);
      assert.equal(await readValue(copied), '');
    } finally {
      for (const { ID } of [open, seen, hidden, once, copied]) await requestPortal(app(), 'DELETE', `${path}/${ID}`);
    }
  });

  test('the export has the own data of the user alone, without password and keys', async () => {
    const { ID: UserID, Email } = await aUser();
    await addAccessRequest(app(), { app: { UserID } });
    const other = await addApp(app());
    const client = await signedInClient(app(), { Email });
    const { status, text } = await client.get('/portal/private/api/export');
    assert.equal(status, 200, text);
    const data = JSON.parse(text);
    assert.deepEqual([data.Account.Email, data.Account.ID], [Email, UserID]);
    assert.deepEqual([data.Apps.length, data.Apps[0].UserID], [1, UserID]);
    assert.deepEqual([data.AccessRequests.length, data.Credentials.length], [1, 1]);
    assert.deepEqual([data.Sessions.length, data.Sessions[0].IsCurrent], [1, true]);
    assert.ok(!text.includes(other.Name));
    assert.doesNotMatch(text, /"Password"|CSRFToken|Hash|\$scrypt|\$2[aby]\$/);
    assert.equal((await createSiteClient(app()).get('/portal/private/api/export')).status, 401);
    assert.match((await client.get('/portal/private/profile')).text, /href="\/portal\/private\/api\/export"/);
  });

  test('an organisation admin sees all members, a developer those of the teams, a stranger none', async () => {
    const { ID } = await requestPortal(app(), 'POST', '/portal-api/organisations', { Name: `org-${createPublicId()}` });
    const admin = await aUser({ OrganisationID: ID, Role: 'consumer-admin' });
    const member = await aUser({ OrganisationID: ID, Role: 'consumer-team-member' });
    const stranger = await aUser();
    const listOf = async (user: { Email: string }) =>
      (await (await signedInClient(app(), user)).get('/portal/private/users')).text;
    const ofAdmin = await listOf(admin);
    assert.ok(ofAdmin.includes(member.Email) && ofAdmin.includes(admin.Email));
    assert.ok(!(await listOf(member)).includes(admin.Email), 'the default team is no shared one');
    assert.ok(!(await listOf(stranger)).includes(member.Email));
    assert.equal((await createSiteClient(app()).get('/portal/private/users')).status, 303);
  });
});
