import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addApp, addDeveloper, portalTimePattern, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('portal teams', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api/organisations${path}`, body === undefined ? {} : { body });
  const ok = (method: string, path: string, body?: unknown) =>
    requestPortal(app(), method, `/portal-api/organisations${path}`, body);
  const teamsOf = async (userId: number) => {
    const { Teams } = await requestPortal(app(), 'GET', `/portal-api/users/${userId}`);
    return Teams.map(({ ID }: { ID: number }) => ID);
  };

  test('a team is returned with its users, by number and by persistent id', async () => {
    const organisation = await ok('POST', '', { Name: 'Teams Ltd' });
    const user = await addDeveloper(app(), { OrganisationID: organisation.ID });
    const team = await ok('POST', `/${organisation.ID}/teams`, { Name: '<i>Blue</i>', Users: [user.ID] });
    const { ID, CID, CreatedAt, UpdatedAt, ...rest } = team;
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(rest, { Name: 'Blue', Users: [`User#${user.ID}`] });
    for (const id of [ID, CID]) assert.deepEqual(await ok('GET', `/${organisation.CID}/teams/${id}`), team);
    assert.deepEqual(await ok('GET', `/${organisation.ID}/teams`), [
      { ID, Name: 'Blue', Default: false },
      organisation.Teams[0],
    ]);
    assert.deepEqual(await ok('GET', `/${organisation.ID}/teams?page=2&per_page=1`), [organisation.Teams[0]]);
    const renamed = await ok('PUT', `/${organisation.ID}/teams/${ID}`, { ...team, Name: 'Red' });
    assert.deepEqual([renamed.Name, renamed.Users], ['Red', team.Users]);
  });

  test('the list is searched by a part of the name, and counts teams, users and apps', async () => {
    const { ID } = await ok('POST', '', { Name: 'Zebra Counting Ltd' });
    await ok('POST', '', { Name: 'Zebra Empty Ltd' });
    await ok('POST', `/${ID}/teams`, { Name: 'Second' });
    const [owner] = [
      await addDeveloper(app(), { OrganisationID: ID }),
      await addDeveloper(app(), { OrganisationID: ID }),
    ];
    await addApp(app(), { UserID: owner.ID });
    const counts = (it: Record<string, unknown>) => [it.Name, it.TeamCount, it.UserCount, it.AppCount];
    assert.deepEqual((await ok('GET', '?q=ZEBRA')).map(counts), [
      ['Zebra Empty Ltd', 1, 0, 0],
      ['Zebra Counting Ltd', 2, 2, 1],
    ]);
    assert.deepEqual((await ok('GET', '?q=zebra&page=2&per_page=1')).map(counts), [['Zebra Counting Ltd', 2, 2, 1]]);
    assert.deepEqual(await ok('GET', '?q=%25zebra'), []);
  });

  test('users removed from their last team are in the default team', async () => {
    const organisation = await ok('POST', '', { Name: 'Fallback' });
    const user = await addDeveloper(app(), { OrganisationID: organisation.ID });
    const team = await ok('POST', `/${organisation.ID}/teams`, { Name: 'Only' });
    await requestPortal(app(), 'PUT', `/portal-api/users/${user.ID}`, { Teams: [team.ID] });
    assert.deepEqual(await teamsOf(user.ID), [team.ID]);
    await ok('PUT', `/${organisation.ID}/teams/${team.ID}`, { Users: null });
    assert.deepEqual(await teamsOf(user.ID), [organisation.Teams[0].ID]);
    await requestPortal(app(), 'PUT', `/portal-api/users/${user.ID}`, { Teams: [team] });
    assert.deepEqual(await ok('DELETE', `/${organisation.ID}/teams/${team.ID}`), { status: 'ok' });
    assert.deepEqual(await teamsOf(user.ID), [organisation.Teams[0].ID]);
  });

  test('a team is found only in its organisation, and has only users of it', async () => {
    const [one, two] = [await ok('POST', '', { Name: 'One' }), await ok('POST', '', { Name: 'Two' })];
    const stranger = await addDeveloper(app(), { OrganisationID: two.ID });
    const team = await ok('POST', `/${one.ID}/teams`, { Name: 'T' });
    const refused = await ask('PUT', `/${one.ID}/teams/${team.ID}`, { Users: [stranger.ID] });
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.body.errors, [`Users[0]: there is no user ${stranger.ID} in organisation ${one.ID}`]);
    for (const [method, body, status] of [
      ['GET', undefined, 404],
      ['PUT', { Name: 'x' }, 422],
      ['DELETE', undefined, 404],
    ] as const)
      assert.equal((await ask(method, `/${two.ID}/teams/${team.ID}`, body)).status, status, method);
    for (const path of ['/99999/teams', '/99999/teams/1']) assert.equal((await ask('GET', path)).status, 404);
    assert.equal((await ask('POST', '/99999/teams', { Name: 'x' })).status, 422);
    assert.deepEqual((await ask('POST', `/${one.ID}/teams`, { Nam: 'x' })).body.errors, [
      'Nam: no such member; did you mean Name?',
      'Name: is required',
    ]);
  });

  test('the default organisation and default teams cannot be deleted, and can be renamed', async () => {
    const organisation = await ok('GET', '/1');
    const [team] = organisation.Teams;
    for (const [path, message] of [
      ['/1', 'The default organisation cannot be deleted'],
      [`/1/teams/${team.ID}`, 'The default team of an organisation cannot be deleted'],
    ] as const) {
      const { status, body } = await ask('DELETE', path);
      assert.deepEqual([status, body.errors], [422, [message]]);
    }
    assert.equal((await ok('PUT', `/1/teams/${team.ID}`, { Name: 'Everybody' })).Name, 'Everybody');
    assert.equal((await ok('PUT', '/1', { Name: 'Everywhere' })).Name, 'Everywhere');
    await ok('PUT', '/1', { ...organisation });
    await ok('PUT', `/1/teams/${team.ID}`, { Name: team.Name });
  });

  test('users of a deleted organisation move to the default one, with personal apps', async () => {
    const organisation = await ok('POST', '', { Name: 'Short-lived' });
    const user = await addDeveloper(app(), { OrganisationID: organisation.ID });
    const owned = await addApp(app(), { UserID: user.ID, Visibility: 'organisation' });
    assert.deepEqual(await ok('DELETE', `/${organisation.ID}`), { status: 'ok' });
    const moved = await requestPortal(app(), 'GET', `/portal-api/users/${user.ID}`);
    assert.deepEqual([moved.OrganisationID, moved.Teams[0].ID], [1, 1]);
    assert.equal((await requestPortal(app(), 'GET', `/portal-api/apps/${owned.ID}`)).Visibility, 'personal');
    for (const path of ['', '/teams', `/teams/${organisation.Teams[0].ID}`])
      assert.equal((await ask('GET', `/${organisation.ID}${path}`)).status, 404);
    assert.equal((await ask('DELETE', `/${organisation.ID}`)).status, 404);
    assert.equal((await ask('PUT', `/${organisation.ID}`, { Name: 'x' })).status, 422);
  });

  test('the statements that empty a team or delete an organisation do not grow with its users', async ({ mock }) => {
    const { records } = app().application.installation;
    const statements = mock.getter(records, 'db').mock;
    const counts: [empty: number, remove: number][] = [];
    for (const [run, size] of [2, 7, 2, 7].entries()) {
      const organisation = await ok('POST', '', { Name: `Of ${size} in run ${run}` });
      const users: { ID: number; Email: string }[] = [];
      for (let at = 0; at < size; at++) users.push(await addDeveloper(app(), { OrganisationID: organisation.ID }));
      const team = await ok('POST', `/${organisation.ID}/teams`, { Name: 'T' });
      for (const { ID } of users) {
        await requestPortal(app(), 'PUT', `/portal-api/users/${ID}`, { Teams: [team.ID] });
        await addApp(app(), { UserID: ID, Visibility: 'team' });
      }
      const start = statements.callCount();
      await ok('PUT', `/${organisation.ID}/teams/${team.ID}`, { Users: [] });
      const middle = statements.callCount();
      await ok('DELETE', `/${organisation.ID}`);
      counts.push([middle - start, statements.callCount() - middle]);
      for (const { ID, Email } of users) {
        const { OrganisationID, Teams, ...moved } = await requestPortal(app(), 'GET', `/portal-api/users/${ID}`);
        assert.deepEqual([OrganisationID, Teams.length, Teams[0].ID, moved.Email], [1, 1, 1, Email]);
        const apps = await requestPortal(app(), 'GET', '/portal-api/apps?per_page=1000');
        const own = apps.filter(({ UserID }: { UserID: number }) => UserID === ID);
        assert.deepEqual(
          own.map(({ Visibility }: { Visibility: string }) => Visibility),
          ['personal'],
        );
      }
    }
    // Periodic work of the installation may add a few to one run; each of the five more users would add several.
    const lowest = (first: number, at: 0 | 1) => Math.min(counts[first]![at], counts[first + 2]![at]);
    for (const at of [0, 1] as const) assert.ok(lowest(1, at) - lowest(0, at) < 5, `${counts}`);
  });
});
