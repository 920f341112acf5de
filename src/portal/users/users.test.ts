import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyPassword } from '#base/passwords.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addDeveloper, portalTimePattern, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../tests/support/site-client.ts';

onEveryEngine('portal users and organisations', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });

  test('a user is returned with every member except password and token', async () => {
    const password = 'correct horse battery';
    const { status, body, text } = await ask('POST', '/users', {
      Email: 'Ann@Example.org',
      First: 'Ann',
      Last: 'Lee',
      Password: password,
    });
    assert.equal(status, 200, text);
    const { ID, CID, CreatedAt, UpdatedAt, Teams, ...rest } = body;
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(rest, {
      Active: true,
      Email: 'ann@example.org',
      First: 'Ann',
      Last: 'Lee',
      OrganisationID: 1,
      Organisation: 'Default Organisation',
      Role: 'consumer-admin',
      Provider: 'password',
      JWTToken: '',
      APITokenCreatedAt: '',
      ResetPassword: false,
      SecondFactor: false,
      State: 'active',
      LastSignInAt: '',
    });
    assert.deepEqual([Teams[0].ID, Teams[0].Name], [1, 'Default Organisation All users']);
    assert.ok(Teams[0].Users.includes(`User#${ID}`));
    for (const id of [ID, CID]) assert.deepEqual((await ask('GET', `/users/${id}`)).body, body);
    const stored = await app().application.installation.services.portal.users.get(ID);
    assert.ok(await verifyPassword(password, stored!.Password));
    for (const path of ['/users', `/users/${ID}`, '/organisations/1'])
      assert.doesNotMatch((await ask('GET', path)).text, /scrypt|correct horse/);
    const [row] = (await ask('GET', '/users?limit=1')).body;
    assert.deepEqual(Object.keys(row).sort(), [
      'Active',
      'Email',
      'First',
      'ID',
      'Last',
      'LastSignInAt',
      'OrganisationID',
      'Provider',
      'Role',
      'State',
    ]);
  });

  test('the state of a user follows its password and activation, and a sign-in is recorded with its time', async () => {
    const user = await addDeveloper(app(), { Password: sitePassword });
    const read = async () => (await ask('GET', `/users/${user.ID}`)).body;
    assert.deepEqual([(await read()).State, (await read()).LastSignInAt], ['active', '']);
    await signedInClient(app(), user);
    assert.match((await read()).LastSignInAt, portalTimePattern);
    for (const [change, state] of [
      [{ ResetPassword: true }, 'reset due'],
      [{ Active: false }, 'deactivated'],
      [{ Active: true, ResetPassword: false }, 'active'],
    ] as const) {
      const { body } = await ask('PUT', `/users/${user.ID}`, change);
      assert.equal(body.State, state);
      assert.match(body.LastSignInAt, portalTimePattern);
    }
    assert.equal((await addDeveloper(app())).State, 'invited');
  });

  test('a new organisation has a default team with all its users', async () => {
    const { body } = await ask('POST', '/organisations', { Name: '<b>Partner</b> Ltd' });
    assert.equal(body.Name, 'Partner Ltd');
    assert.deepEqual(
      body.Teams.map(({ Name, Default }: { Name: string; Default: boolean }) => [Name, Default]),
      [['Partner Ltd All users', true]],
    );
    assert.deepEqual(body.Users, []);
    const user = await requestPortal(app(), 'POST', '/portal-api/users', {
      Email: 'p@partner.org',
      OrganisationID: body.ID,
    });
    assert.deepEqual([user.Organisation, user.Teams[0].ID], ['Partner Ltd', body.Teams[0].ID]);
    const { body: read } = await ask('GET', `/organisations/${body.CID}`);
    assert.deepEqual([read.ID, read.Users[0].Email], [body.ID, 'p@partner.org']);
    const [row] = (await ask('GET', '/organisations')).body;
    assert.deepEqual(row, { ID: body.ID, Name: 'Partner Ltd', TeamCount: 1, UserCount: 1, AppCount: 0 });
    for (const Name of ['', '  ', '<i></i>'])
      assert.deepEqual((await ask('POST', '/organisations', { Name })).body.errors, ['Name: must not be empty']);
  });

  test('administrators belong to no organisation', async () => {
    const { body } = await ask('POST', '/users', {
      Email: 'chief@example.org',
      Role: 'provider-admin',
      OrganisationID: 1,
    });
    assert.deepEqual([body.OrganisationID, body.Organisation, body.Teams], [0, '', []]);
  });

  test('a duplicate e-mail address is a conflict; invalid members are refused with their path', async () => {
    await requestPortal(app(), 'POST', '/portal-api/users', { Email: 'once@example.org' });
    assert.equal((await ask('POST', '/users', { Email: 'ONCE@example.org' })).status, 409);
    const { status, body } = await ask('POST', '/users', { Email: 'no address', Role: 'king', Active: 'maybe' });
    assert.equal(status, 422);
    const places = body.errors.map((line: string) => line.split(':')[0]).sort();
    assert.deepEqual(places, ['Active', 'Email', 'Role']);
    assert.match(
      (await ask('POST', '/users', { Email: 's@example.org', Password: 'x' })).body.errors[0],
      /^Password: /,
    );
    assert.deepEqual((await ask('POST', '/users', { Email: 'o@example.org', OrganisationID: 777 })).body.errors, [
      'OrganisationID: there is no organisation 777',
    ]);
    assert.deepEqual((await ask('POST', '/users', { Email: 't@example.org', Teams: [1, 777] })).body.errors, [
      'Teams[1]: there is no team 777 in organisation 1',
    ]);
    for (const path of ['/users/99999', '/users/nobody', '/organisations/99999', '/organisations/nobody'])
      assert.equal((await ask('GET', path)).status, 404);
  });
});
