import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { readLastAudit } from '../../../../tests/support/last-audit.ts';
import { addAccessRequest, addDeveloper, requestPortal } from '../../../../tests/support/portal.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../../tests/support/site-client.ts';

const path = '/portal/private/profile/delete';

onEveryEngine('deletion of the own account', app => {
  const aUser = (more: Record<string, unknown> = {}) => addDeveloper(app(), { Password: sitePassword, ...more });
  const remove = (client: SiteClient, { Email }: { Email: string }, more: Record<string, string> = {}) =>
    client.post(path, { confirmation: Email, password: sitePassword, ...more });
  const exists = async ({ ID }: { ID: number }) =>
    (await app().ask('GET', `/portal-api/users/${ID}`, {})).status === 200;
  const hashOf = async (appId: number) =>
    (await requestPortal(app(), 'GET', `/portal-api/apps/${appId}`)).AccessRequests[0][0].Credentials[0].CredentialHash;
  const hasKey = async (hash: string) => (await app().ask('GET', `/api/keys/${hash}?hashed=true`)).status === 200;

  test('a user with password and typed address deletes the account with apps, keys and sessions', async () => {
    const user = await aUser();
    const { app: owned } = await addAccessRequest(app(), { app: { UserID: user.ID } });
    const hash = await hashOf(owned.ID);
    const [client, other] = [await signedInClient(app(), user), await signedInClient(app(), user)];
    assert.ok((await client.get(path)).text.includes(owned.Name));
    assert.equal((await remove(client, user, { password: 'wrong' })).status, 422);
    assert.equal((await remove(client, user, { confirmation: 'yes' })).status, 422);
    assert.equal((await remove(client, user, { csrf_token: 'guess' })).status, 403);
    assert.equal((await remove(createSiteClient(app()), user)).status, 303);
    assert.ok((await exists(user)) && (await hasKey(hash)));
    await client.get(path);
    const deleted = await remove(client, user, { user_id: '1', ID: '1' });
    assert.match(deleted.text, /<h1>Your account is deleted<\/h1>/);
    assert.match(deleted.headers.getSetCookie().join(), /portal-session=; .*Max-Age=0/);
    assert.deepEqual(await readLastAudit(app()), ['deleteOwnAccount', `portal:${user.ID}`, '', 200]);
    assert.deepEqual([await exists(user), await hasKey(hash)], [false, false]);
    assert.ok(await exists({ ID: 1 }));
    assert.equal((await other.get('/portal/private/profile')).status, 303);
    assert.equal((await createSiteClient(app()).signIn(user.Email)).status, 401);
  });

  test('an account whose keys cannot be revoked stays, with the apps that are left named', async () => {
    const user = await aUser();
    const first = await requestPortal(app(), 'POST', '/portal-api/apps', { Name: 'Without keys', UserID: user.ID });
    const { app: stuck } = await addAccessRequest(app(), { app: { UserID: user.ID } });
    const client = await signedInClient(app(), user);
    const { providers } = app().application.installation.services.portal;
    const [local] = await providers.all();
    const breakProvider = (URL: string) =>
      providers.change(local!.ID, it => ({ ...it, MetaData: { ...it.MetaData, URL } }));
    await client.get(path);
    await breakProvider('http://127.0.0.1:9');
    try {
      const { status, text } = await remove(client, user);
      assert.equal(status, 422);
      assert.match(text, /The account is not deleted: The gateway of this product is unavailable/);
      assert.ok(text.includes(stuck.Name));
      assert.doesNotMatch(text, /127\.0\.0\.1:9/);
    } finally {
      await breakProvider('');
    }
    assert.ok(await exists(user));
    assert.equal((await remove(client, user)).status, 200);
    for (const { ID } of [first, stuck]) assert.equal((await app().ask('GET', `/portal-api/apps/${ID}`)).status, 404);
  });

  test('the only admin of an organisation with members hands over first, also with two who leave at once', async () => {
    const { ID } = await requestPortal(app(), 'POST', '/portal-api/organisations', { Name: `org-${createPublicId()}` });
    const [admin, member] = [
      await aUser({ OrganisationID: ID, Role: 'consumer-admin' }),
      await aUser({ OrganisationID: ID, Role: 'consumer-team-member' }),
    ];
    const client = await signedInClient(app(), admin);
    await client.get(path);
    const refused = await remove(client, admin);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /make one of them its administrator first/);
    const second = await aUser({ OrganisationID: ID, Role: 'consumer-admin' });
    const other = await signedInClient(app(), second);
    await other.get(path);
    const replies = await Promise.all([remove(client, admin), remove(other, second)]);
    assert.deepEqual(replies.map(it => it.status).sort(), [200, 422]);
    assert.ok(await exists(member));
    assert.equal([await exists(admin), await exists(second)].filter(Boolean).length, 1);
  });

  test('a user of single sign-on deletes the account with a recent sign-on, and with an older one not', async () => {
    const user = await aUser();
    const [recent, old] = [await signedInClient(app(), user), await signedInClient(app(), user)];
    const { portal, records, clock } = app().application.installation.services;
    await portal.users.change(user.ID, it => ({ ...it, Provider: 'company', Password: '' }));
    await old.get(path);
    const [newest, oldest] = await portal.sessions.list(`portal:${user.ID}`, clock.now());
    assert.ok(newest && oldest);
    await records.db
      .updateTable('sessions')
      .set({ created_at: clock.now() - 601_000 })
      .where('id', '=', newest.id)
      .execute();
    const statuses = [(await remove(old, user)).status];
    assert.ok(await exists(user));
    await recent.get(path);
    statuses.push((await remove(recent, user)).status);
    assert.deepEqual([statuses, await exists(user)], [[422, 200], false]);
  });
});
