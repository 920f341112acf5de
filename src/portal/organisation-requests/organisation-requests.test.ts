import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addDeveloper, requestPortal } from '../../../tests/support/portal.ts';

onEveryEngine('organisation requests', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
  const list = '/organisation-requests';
  const aName = () => `Acme ${createPublicId()}`;
  async function addAccessRequest(Name = aName()) {
    const user = await addDeveloper(app());
    const request = await requestPortal(app(), 'POST', `/portal-api${list}`, { Name, AdminID: user.ID }, 201);
    return { user, request, path: `${list}/${request.ID}` };
  }
  const readUser = async (id: number) => (await ask('GET', `/users/${id}`)).body;

  test('an approval creates the organisation with its default team and makes the developer its administrator', async () => {
    const { user, request, path } = await addAccessRequest();
    assert.deepEqual([request.Status, request.AdminEmail, request.OrganisationID], ['pending', user.Email, 0]);
    assert.deepEqual((await ask('GET', `${list}?status=pending&per_page=1`)).body, [request]);
    const { OrganisationID } = (await ask('PUT', `${path}/approve`, {})).body;
    const organisation = (await ask('GET', `/organisations/${OrganisationID}`)).body;
    assert.equal(organisation.Name, request.Name);
    const { Role, OrganisationID: joined, Teams } = await readUser(user.ID);
    assert.deepEqual([Role, joined], ['consumer-admin', OrganisationID]);
    assert.deepEqual(
      Teams.map((it: { Name: string }) => it.Name),
      [`${request.Name} All users`],
    );
    const after = (await ask('GET', path)).body;
    assert.deepEqual([after.Status, after.OrganisationID], ['approved', OrganisationID]);
    for (const action of ['approve', 'reject'])
      assert.match(
        (await ask('PUT', `${path}/${action}`, action === 'approve' ? {} : undefined)).body.errors[0],
        /approved/,
      );
    const again = await ask('POST', list, { Name: aName(), AdminID: user.ID });
    assert.match(again.body.errors[0], /already has an organisation/);
  });

  test('an approval may rename the organisation', async () => {
    const { path } = await addAccessRequest();
    const Name = aName();
    const { OrganisationID } = (await ask('PUT', `${path}/approve`, { Name: `<b>${Name}</b>\r\n Inc.` })).body;
    assert.equal((await ask('GET', `/organisations/${OrganisationID}`)).body.Name, `${Name}  Inc.`);
  });

  test('a rejected developer keeps role and organisation, and may ask again', async () => {
    const { user, path } = await addAccessRequest();
    assert.equal((await ask('PUT', `${path}/reject?reason=no+such+company`)).status, 200);
    const { Status, Reason } = (await ask('GET', path)).body;
    assert.deepEqual([Status, Reason], ['rejected', 'no such company']);
    const { Role, OrganisationID } = await readUser(user.ID);
    assert.deepEqual([Role, OrganisationID], [user.Role, 1]);
    await requestPortal(app(), 'POST', `/portal-api${list}`, { Name: aName(), AdminID: user.ID }, 201);
    assert.equal((await ask('DELETE', path)).status, 200);
    assert.equal((await ask('DELETE', path)).status, 404);
    assert.equal((await ask('GET', path)).status, 404);
    for (const action of ['approve', 'reject'])
      assert.equal((await ask('PUT', `${path}/${action}`, action === 'approve' ? {} : undefined)).status, 422);
  });

  test('a name of an organisation or of a pending request is refused, and nothing is stored', async () => {
    const { request, path } = await addAccessRequest();
    const other = await addDeveloper(app());
    const taken = await ask('POST', list, { Name: request.Name.toUpperCase(), AdminID: other.ID });
    assert.match(taken.body.errors[0], /is taken/);
    const second = await addAccessRequest();
    assert.equal((await ask('PUT', `${second.path}/approve`, { Name: request.Name })).status, 422);
    await ask('PUT', `${path}/approve`, {});
    assert.equal((await ask('POST', list, { Name: request.Name, AdminID: other.ID })).status, 422);
    assert.equal((await ask('PUT', `${second.path}/approve`, { Name: request.Name })).status, 422);
    const requests = (await ask('GET', `${list}?per_page=1000`)).body;
    assert.equal(requests.filter((it: { AdminID: number }) => it.AdminID === other.ID).length, 0);
  });

  test('of concurrent requests for one name, and of concurrent decisions, one succeeds', async () => {
    const users = await Promise.all([1, 2, 3].map(() => addDeveloper(app())));
    const Name = aName();
    const asked = await Promise.all(users.map(({ ID }) => ask('POST', list, { Name, AdminID: ID })));
    assert.deepEqual(asked.map(it => it.status).sort(), [201, 422, 422]);
    const path = `${list}/${asked.find(it => it.status === 201)!.body.ID}`;
    const decided = await Promise.all([
      ask('PUT', `${path}/approve`, {}),
      ask('PUT', `${path}/approve`, {}),
      ask('PUT', `${path}/reject`),
    ]);
    assert.equal(decided.filter(it => it.status === 200).length, 1);
    const named = (await ask('GET', '/organisations?per_page=1000')).body.filter(
      (it: { Name: string }) => it.Name === Name,
    );
    assert.ok(named.length <= 1);
  });

  test('administrators, unknown users and developers with a pending request are refused', async () => {
    const { user, path } = await addAccessRequest();
    assert.match((await ask('POST', list, { Name: aName(), AdminID: user.ID })).body.errors[0], /pending request/);
    for (const AdminID of [1, 999_999])
      assert.match(
        (await ask('POST', list, { Name: aName(), AdminID })).body.errors[0],
        /^AdminID: there is no developer/,
      );
    assert.equal((await ask('POST', list, { Name: '<b></b>', AdminID: user.ID })).status, 422);
    const { ID } = await requestPortal(app(), 'POST', '/portal-api/organisations', { Name: aName() });
    await requestPortal(app(), 'PUT', `/portal-api/users/${user.ID}`, { OrganisationID: ID });
    assert.match((await ask('PUT', `${path}/approve`, {})).body.errors[0], /already has an organisation/);
    await requestPortal(app(), 'DELETE', `/portal-api/users/${user.ID}`);
    assert.equal((await ask('GET', path)).status, 404);
  });
});
