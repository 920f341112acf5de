import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addAccessRequest, addApp, addDeveloper, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('changes of portal users', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);

  test('an update changes the given members and keeps the others', async () => {
    const user = await addDeveloper(app(), { Password: 'correct horse battery' });
    const { users } = app().application.installation.services.portal;
    const { Password } = (await users.get(user.ID))!;
    const changed = await ok('PUT', `/users/${user.CID}`, { ...user, First: 'New', ResetPassword: 'true' });
    assert.deepEqual([changed.First, changed.Last, changed.ResetPassword], ['New', user.Last, true]);
    assert.equal((await users.get(user.ID))!.Password, Password);
    await ok('PUT', `/users/${user.ID}`, { Password: 'another horse battery' });
    assert.notEqual((await users.get(user.ID))!.Password, Password);
    assert.equal((await ask('PUT', `/users/${user.ID}`, { Password: 'x' })).status, 422);
    const other = await addDeveloper(app());
    assert.equal((await ask('PUT', `/users/${user.ID}`, { Email: other.Email.toUpperCase() })).status, 409);
    assert.equal((await ask('PUT', '/users/99999', {})).status, 422);
    assert.deepEqual((await ask('PUT', `/users/${user.ID}`, { Fist: 'x' })).body.errors, [
      'Fist: no such member; did you mean First?',
    ]);
  });

  test('a user who changes the organisation gets its default team, and in the default organisation personal apps', async () => {
    const organisation = await ok('POST', '/organisations', { Name: 'Movers' });
    const user = await addDeveloper(app(), { OrganisationID: organisation.ID });
    const { ID } = await addApp(app(), { UserID: user.ID, Visibility: 'organisation' });
    assert.equal((await ok('GET', `/apps/${ID}`)).Visibility, 'organisation');
    const moved = await ok('PUT', `/users/${user.ID}`, { OrganisationID: 1 });
    assert.deepEqual([moved.Organisation, moved.Teams[0].ID], ['Default Organisation', 1]);
    assert.equal((await ok('GET', `/apps/${ID}`)).Visibility, 'personal');
    assert.deepEqual((await ask('PUT', `/users/${user.ID}`, { Teams: [organisation.Teams[0].ID] })).body.errors, [
      `Teams[0]: there is no team ${organisation.Teams[0].ID} in organisation 1`,
    ]);
    const promoted = await ok('PUT', `/users/${user.ID}`, { Role: 'provider-admin' });
    assert.deepEqual([promoted.OrganisationID, promoted.Teams], [0, []]);
    await ok('DELETE', `/users/${user.ID}`);
  });

  test('a deleted user takes apps and keys along; with force also while the provider is unreachable', async () => {
    const { app: owned } = await addAccessRequest(app());
    const [[request]] = (await ok('GET', `/apps/${owned.ID}`)).AccessRequests;
    const hash = request.Credentials[0].CredentialHash;
    assert.equal((await app().ask('GET', `/api/keys/${hash}?hashed=true`)).status, 200);
    assert.deepEqual(await ok('DELETE', `/users/${owned.UserID}`), { status: 'ok' });
    assert.equal((await app().ask('GET', `/api/keys/${hash}?hashed=true`)).status, 404);
    for (const path of [`/apps/${owned.ID}`, `/users/${owned.UserID}`, `/access_requests/${request.ID}`])
      assert.equal((await ask('GET', path)).status, 404, path);
    assert.equal((await ask('DELETE', `/users/${owned.UserID}`)).status, 404);

    const { app: stuck } = await addAccessRequest(app());
    const { providers } = app().application.installation.services.portal;
    const [local] = await providers.all();
    const breakProvider = (URL: string) =>
      providers.change(local!.ID, it => ({ ...it, MetaData: { ...it.MetaData, URL } }));
    await breakProvider('http://127.0.0.1:9');
    try {
      assert.equal((await ask('DELETE', `/users/${stuck.UserID}`)).status, 422);
      assert.equal((await ask('GET', `/users/${stuck.UserID}`)).status, 200);
      await ok('DELETE', `/users/${stuck.UserID}?force=true`);
    } finally {
      await breakProvider('');
    }
    assert.equal((await ask('GET', `/apps/${stuck.ID}`)).status, 404);
  });

  test('the only active administrator stays', async () => {
    const [administrator] = (await ok('GET', '/users?per_page=1000')).filter(
      (it: { OrganisationID: number; Active: boolean }) => it.OrganisationID === 0 && it.Active,
    );
    const message = 'The only active administrator cannot be deleted, deactivated or given another role';
    for (const [method, body] of [
      ['PUT', { Active: false }],
      ['PUT', { Role: 'consumer-admin' }],
      ['DELETE'],
    ] as const) {
      const { status, body: refused } = await ask(method, `/users/${administrator.ID}`, body);
      assert.deepEqual([status, refused.errors], [422, [message]]);
    }
    const second = await addDeveloper(app(), { Role: 'provider-admin' });
    await ok('PUT', `/users/${second.ID}`, { Active: false });
    await ok('DELETE', `/users/${second.ID}`);
  });

  test('keys of a deactivated user stay valid until the user is deleted', async () => {
    const { app: owned } = await addAccessRequest(app());
    const [[request]] = (await ok('GET', `/apps/${owned.ID}`)).AccessRequests;
    const keyStatus = async () =>
      (await app().ask('GET', `/api/keys/${request.Credentials[0].CredentialHash}?hashed=true`)).status;
    assert.equal((await ok('PUT', `/users/${owned.UserID}`, { Active: false })).Active, false);
    assert.equal(await keyStatus(), 200);
    await ok('DELETE', `/users/${owned.UserID}`);
    assert.equal(await keyStatus(), 404);
  });
});
