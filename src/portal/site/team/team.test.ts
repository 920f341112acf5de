import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { readLastAudit } from '../../../../tests/support/last-audit.ts';
import { addApp, addDeveloper, requestPortal } from '../../../../tests/support/portal.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../../tests/support/site-client.ts';

onEveryEngine('team pages of the portal', app => {
  const ok = (method: string, path: string, body?: unknown, status = 200) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  const aUser = (more: Record<string, unknown> = {}) => addDeveloper(app(), { Password: sitePassword, ...more });
  async function aTeamed() {
    const organisation = await ok('POST', '/organisations', { Name: `Org ${createPublicId()}` });
    const inOrganisation = { OrganisationID: organisation.ID };
    const team = await ok('POST', `/organisations/${organisation.ID}/teams`, { Name: 'Mobile' });
    const closed = await ok('POST', `/organisations/${organisation.ID}/teams`, { Name: 'Closed' });
    const whole = organisation.Teams[0].ID;
    const admin = await aUser({ ...inOrganisation, Role: 'consumer-admin', Teams: [whole, team.ID] });
    const member = await aUser({ ...inOrganisation, Role: 'consumer-team-member', Teams: [whole, closed.ID] });
    return { organisation, team, closed, whole, admin, member, client: await signedInClient(app(), admin) };
  }
  const teamIdsOf = async (id: number) =>
    (await ok('GET', `/users/${id}`)).Teams.map((it: { ID: number }) => it.ID).sort((a: number, b: number) => a - b);
  const path = (id: number, action = '') => `/portal/private/users/${id}${action}`;

  test('the admin changes role and teams of a member; teams of others stay', async () => {
    const { member, team, closed, client } = await aTeamed();
    const page = await client.get(path(member.ID));
    assert.match(page.text, /Mobile/);
    assert.doesNotMatch(page.text, /Closed/);
    const fields = { role: 'consumer-admin', [`team_${team.ID}`]: 'on' };
    assert.equal((await client.post(path(member.ID), fields)).location, '/portal/private/users?done=saved');
    assert.equal((await ok('GET', `/users/${member.ID}`)).Role, 'consumer-admin');
    assert.deepEqual(await teamIdsOf(member.ID), [team.ID, closed.ID]);
    assert.deepEqual(await readLastAudit(app()), ['changeMember', String(member.ID), '', 303]);
  });

  test('a removed member is in the default organisation, and the chosen member has the apps', async () => {
    const { organisation, member, client } = await aTeamed();
    const newOwner = await aUser({ OrganisationID: organisation.ID, Role: 'consumer-team-member' });
    const personal = await addApp(app(), { UserID: member.ID, Visibility: 'personal' });
    const shared = await addApp(app(), { UserID: member.ID, Visibility: 'team' });
    await client.get(path(member.ID));
    const removed = await client.post(path(member.ID, '/remove'), { new_owner: String(newOwner.ID) });
    assert.equal(removed.location, '/portal/private/users?done=removed');
    const { OrganisationID, Role } = await ok('GET', `/users/${member.ID}`);
    assert.deepEqual([OrganisationID, Role], [1, 'consumer-team-member']);
    for (const [{ ID }, visibility] of [
      [personal, 'personal'],
      [shared, 'team'],
    ] as const) {
      const { UserID, Visibility } = await ok('GET', `/apps/${ID}`);
      assert.deepEqual([UserID, Visibility], [newOwner.ID, visibility]);
    }
    const former = await signedInClient(app(), member);
    assert.equal((await former.get(`/portal/private/apps/${personal.ID}`)).status, 404);
  });

  test('members, and admins of other organisations, cannot see or change a member', async () => {
    const { member, admin } = await aTeamed();
    const other = await aTeamed();
    const asMember = await signedInClient(app(), member);
    for (const client of [other.client, asMember]) {
      assert.equal((await client.get(path(admin.ID))).status, 404);
      for (const action of ['', '/remove'])
        assert.equal(
          (await client.post(path(admin.ID, action), { role: 'consumer-admin', new_owner: String(other.admin.ID) }))
            .status,
          404,
        );
    }
    assert.equal((await asMember.get('/portal/private/users/invite')).status, 404);
  });

  test('an admin gives no role of the portal, no team of others, no app to a stranger, and stays admin', async () => {
    const { member, admin, closed, client, whole } = await aTeamed();
    const other = await aTeamed();
    await client.get(path(member.ID));
    for (const role of ['provider-admin', 'super-admin', ''])
      assert.equal((await client.post(path(member.ID), { role })).status, 422);
    const own = await client.post(path(admin.ID), { role: 'consumer-admin', [`team_${closed.ID}`]: 'on' });
    assert.equal(own.status, 303);
    assert.deepEqual(await teamIdsOf(admin.ID), [whole]);
    assert.equal((await client.post(path(admin.ID), { role: 'consumer-team-member' })).status, 422);
    for (const newOwner of [other.admin.ID, member.ID, 0])
      assert.equal((await client.post(path(member.ID, '/remove'), { new_owner: String(newOwner) })).status, 422);
    assert.equal((await client.post(path(admin.ID, '/remove'), { new_owner: String(member.ID) })).status, 422);
    assert.notEqual((await ok('GET', `/users/${admin.ID}`)).OrganisationID, 1);
  });

  test('a developer asks for an organisation, and sees the request waiting, rejected and approved', async () => {
    const user = await aUser({ Role: 'consumer-team-member' });
    const client = await signedInClient(app(), user);
    const organisation = '/portal/private/organisation';
    assert.match((await client.get(organisation)).text, /Create an organisation/);
    assert.equal((await client.post(organisation, { name: '<b></b>' })).status, 422);
    const name = `Acme ${createPublicId()}`;
    assert.equal((await client.post(organisation, { name })).location, organisation);
    assert.match((await client.get(organisation)).text, /waits for approval/);
    assert.equal((await client.post(organisation, { name: `${name} 2` })).status, 422);
    const find = async () => (await ok('GET', '/organisation-requests?status=pending&per_page=1'))[0];
    await ok('PUT', `/organisation-requests/${(await find()).ID}/reject?reason=Too+vague`);
    assert.match((await client.get(organisation)).text, /was rejected\. Reason: Too vague/);
    await client.post(organisation, { name });
    await ok('PUT', `/organisation-requests/${(await find()).ID}/approve`, {});
    assert.equal((await client.get(organisation)).location, '/portal/private/users');
    assert.match((await client.get('/portal/private/users')).text, new RegExp(`${name}[^]*Invite`));
  });
});
