import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addAccessRequest, addDeveloper, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../tests/support/site-client.ts';

const dayMs = 86_400_000;

onEveryEngine('notices to owners of credentials', app => {
  const ask = (body: unknown) => app().ask('POST', '/portal-api/credentials/notify', { body });
  const services = () => app().application.installation.services;

  async function anOwner() {
    const user = await addDeveloper(app(), { Password: sitePassword });
    const client = await signedInClient(app(), user);
    const readNotices = async () => {
      const { text } = await client.get('/portal/private/notifications');
      return [...text.matchAll(/Credential of \S+ expires on|Clean up, please/g)].map(([found]) => found);
    };
    return { user, client, readNotices };
  }
  /** A credential of a user, which ends in some days. */
  async function aCredential(user: { ID: number }, days: number) {
    const { requestId, app: owned } = await addAccessRequest(app(), { app: { UserID: user.ID } });
    const [{ ID }] = (await requestPortal(app(), 'GET', `/portal-api/access_requests/${requestId}`)).Credentials;
    const Expires = days === 0 ? 0 : services().clock.now() + days * dayMs;
    await services().portal.credentials.change(ID, it => ({ ...it, Expires }));
    return { ID: ID as number, App: owned.Name as string };
  }

  test('an owner is notified once of all credentials that expire soon, and not again within an hour', async () => {
    const { user, readNotices } = await anOwner();
    const [soon, later, active] = [
      await aCredential(user, 10),
      await aCredential(user, 20),
      await aCredential(user, 0),
    ];
    const IDs = [later.ID, soon.ID, active.ID, 999_999];
    const { status, body } = await ask({ IDs });
    assert.equal(status, 200);
    assert.deepEqual(body, {
      Owners: 1,
      Results: [
        { ...later, Result: 'notified' },
        { ...soon, Result: 'notified' },
        { ...active, Result: 'not expiring' },
        { ID: 999_999, App: '', Result: 'unknown' },
      ],
    });
    assert.deepEqual(await readNotices(), ['Credential of '.concat(soon.App, ' expires on')]);
    const again = (await ask({ IDs: [soon.ID], Headline: 'Clean up, please' })).body;
    assert.deepEqual([again.Owners, again.Results[0].Result], [0, 'notified recently']);
    await services().portal.users.change(user.ID, it => ({ ...it, CredentialNoticeAt: 1 }));
    const results = await Promise.all([1, 2, 3].map(() => ask({ IDs: [soon.ID] })));
    assert.equal(
      results.reduce((sum, it) => sum + it.body.Owners, 0),
      1,
      'concurrent notices reach the owner once',
    );
    const records = await requestPortal(app(), 'GET', '/portal-api/audit-logs?action=notifyCredentialOwners');
    assert.equal(records[0].object, String(soon.ID));
  });

  test('all credentials that match a filter are notified with the note of the administrator', async () => {
    const { user, readNotices } = await anOwner();
    const { ID, App } = await aCredential(user, 0);
    const other = await anOwner();
    const { ID: otherId } = await aCredential(other.user, 0);
    const note = { Headline: 'Clean up, please', Text: 'Revoke keys that are not used.' };
    const { body } = await ask({ Unused: true, Q: App, ...note });
    assert.deepEqual(body, { Owners: 1, Results: [{ ID, App, Result: 'notified' }] });
    assert.deepEqual([await readNotices(), await other.readNotices()], [['Clean up, please'], []]);
    const expiring = (await ask({ State: 'expiring', Q: App })).body;
    assert.deepEqual(expiring, { Owners: 0, Results: [] });
    assert.ok(otherId > ID);
  });

  test('an owner who turned notifications of credentials off, or was deactivated, is not notified', async () => {
    const { user, readNotices } = await anOwner();
    const { ID } = await aCredential(user, 10);
    const { notifications } = services().portal;
    await notifications.writeChoices(user.ID, { credentials: { site: false, mail: false } });
    assert.deepEqual((await ask({ IDs: [ID] })).body.Results[0].Result, 'turned off');
    assert.deepEqual(await readNotices(), []);
    await requestPortal(app(), 'PUT', `/portal-api/users/${user.ID}`, { Active: false });
    assert.deepEqual((await ask({ IDs: [ID] })).body.Results[0].Result, 'no owner');
  });

  test('a notice without credentials, with both kinds of choice, or a text without headline is refused', async () => {
    for (const [body, message] of [
      [{}, /^IDs: or a filter is required/],
      [{ IDs: [1], State: 'expiring' }, /^IDs: and a filter exclude each other/],
      [{ IDs: [1], Text: 'x' }, /^Headline: is required with a text/],
      [{ IDs: [] }, /^IDs/],
      [{ State: 'old' }, /^State/],
    ] as const) {
      const { status, body: answer } = await ask(body);
      assert.equal(status, 422);
      assert.match(answer.errors[0], message);
    }
  });
});
