import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { portalTimePattern, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('audiences of catalogues', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  const create = async () => {
    const organisation = await ok('POST', '/organisations', { Name: 'Readers' });
    const team = await ok('POST', `/organisations/${organisation.ID}/teams`, { Name: 'Few' });
    const catalogue = await ok('POST', '/catalogues', { Name: `Shelf ${organisation.ID}` });
    return { organisation, team, catalogue, path: `/catalogues/${catalogue.ID}/audiences` };
  };

  test('a team is added by its number alone, an organisation by its default team, and both are named', async () => {
    const { organisation, team, catalogue, path } = await create();
    const { CreatedAt, UpdatedAt, ...audience } = await ok('POST', path, { TeamID: team.ID }, 201);
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.deepEqual(audience, { ID: audience.ID, OrganisationID: organisation.ID, TeamID: team.ID });
    const whole = await ok('POST', path, { OrganisationID: organisation.ID }, 201);
    assert.equal(whole.TeamID, organisation.Teams[0].ID);
    assert.deepEqual((await ok('GET', path))[1], audience);
    assert.deepEqual(await ok('GET', `/catalogues/${catalogue.CID}/audiences/${whole.ID}`), whole);
    assert.deepEqual((await ok('GET', `/catalogues/${catalogue.ID}`)).OrgCatalogues, [
      { ID: audience.ID, Name: 'Few', Catalogue: catalogue.Name, Organisation: 'Readers' },
      { ID: whole.ID, Name: 'Readers All users', Catalogue: catalogue.Name, Organisation: 'Readers' },
    ]);
    assert.deepEqual(await ok('DELETE', `${path}/${audience.ID}`), { status: 'ok' });
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, `${path}/${audience.ID}`)).status, 404);
  });

  test('a catalogue is created with its audience, or not at all', async () => {
    const { organisation, team } = await create();
    const OrgCatalogues = [{ OrganisationID: organisation.ID, TeamID: team.ID }];
    const made = await ok('POST', '/catalogues', { Name: `With ${team.ID}`, OrgCatalogues });
    assert.equal(made.OrgCatalogues[0].Name, 'Few');
    const twice = { Name: `Twice ${team.ID}`, OrgCatalogues: [{ TeamID: team.ID }, { TeamID: team.ID }] };
    assert.deepEqual((await ask('POST', '/catalogues', twice)).body.errors, [
      'TeamID: the team is in the audience already',
    ]);
    const names = (await ok('GET', '/catalogues?per_page=1000')).map(({ Name }: { Name: string }) => Name);
    assert.ok(!names.includes(twice.Name));
  });

  test('unknown, foreign and repeated teams are refused', async () => {
    const { organisation, team, path } = await create();
    await ok('POST', path, { TeamID: team.ID }, 201);
    for (const [body, message] of [
      [{ TeamID: team.ID }, 'TeamID: the team is in the audience already'],
      [{ TeamID: 99999 }, 'TeamID: there is no team 99999'],
      [{ OrganisationID: 1, TeamID: team.ID }, `TeamID: there is no team ${team.ID} in organisation 1`],
      [{ OrganisationID: 99999 }, 'OrganisationID: there is no organisation 99999'],
      [{}, 'TeamID or OrganisationID is required'],
      [{ TeamId: team.ID, OrganisationID: organisation.ID }, 'TeamId: no such member; did you mean TeamID?'],
    ] as const) {
      const { status, body: refused } = await ask('POST', path, body);
      assert.deepEqual([status, refused.errors], [422, [message]]);
    }
    assert.equal((await ask('POST', '/catalogues/99999/audiences', { TeamID: team.ID })).status, 422);
    assert.equal((await ask('GET', '/catalogues/99999/audiences')).status, 404);
  });

  test('an audience ends with its catalogue, its team and its organisation', async () => {
    const { organisation, team, path } = await create();
    await ok('POST', path, { TeamID: team.ID }, 201);
    await ok('POST', path, { OrganisationID: organisation.ID }, 201);
    await ok('DELETE', `/organisations/${organisation.ID}/teams/${team.ID}`);
    assert.equal((await ok('GET', path)).length, 1);
    const remaining = await ok('POST', path, { TeamID: 1 }, 201);
    await ok('DELETE', `/organisations/${organisation.ID}`);
    const { CreatedAt: _created, UpdatedAt: _updated, ...row } = remaining;
    assert.deepEqual(await ok('GET', path), [row]);
    const other = await create();
    const { ID } = await ok('POST', other.path, { TeamID: other.team.ID }, 201);
    await ok('DELETE', `/catalogues/${other.catalogue.ID}`);
    const { catalogues } = app().application.installation.services.portal;
    assert.equal(await catalogues.audiences.get(ID), undefined);
  });

  test('a team or organisation that is the whole audience of a catalogue is not deleted, also concurrently', async () => {
    const { organisation, team, catalogue, path } = await create();
    const audience = await ok('POST', path, { TeamID: team.ID }, 201);
    await ok('POST', '/catalogues', { Name: `Open ${organisation.ID}` });
    const message = `Without it these catalogues have no audience, and are for all developers: ${catalogue.Name}`;
    const ends = [`/organisations/${organisation.ID}/teams/${team.ID}`, `/organisations/${organisation.ID}`];
    for (const end of ends) {
      const { status, body } = await ask('DELETE', end);
      assert.deepEqual([status, body.errors], [422, [message]]);
      await ok('GET', end);
    }
    const other = await ok('POST', `/organisations/${organisation.ID}/teams`, { Name: 'Second' });
    await ok('POST', path, { TeamID: other.ID }, 201);
    assert.equal((await ask('DELETE', ends[1]!)).status, 422);
    const deletions = [team, other].map(({ ID }) => ask('DELETE', `/organisations/${organisation.ID}/teams/${ID}`));
    const statuses = (await Promise.all(deletions)).map(({ status }) => status);
    assert.deepEqual(statuses.toSorted(), [200, 422]);
    const [last] = await ok('GET', path);
    assert.equal(last.TeamID, statuses[0] === 422 ? team.ID : other.ID);
    assert.equal(last.ID === audience.ID, statuses[0] === 422);
    await ok('DELETE', `${path}/${last.ID}`);
    await ok('DELETE', ends[1]!);
  });
});
