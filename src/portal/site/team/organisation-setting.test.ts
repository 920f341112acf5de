import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, type TestApp } from '../../../../tests/support/app.ts';
import { readLastAudit } from '../../../../tests/support/last-audit.ts';
import { requestPortal } from '../../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../../tests/support/site-client.ts';

const path = '/portal/private/organisation';

async function ask(app: TestApp, name = `Acme ${createPublicId()}`) {
  const user = await addSiteDeveloper(app, { Role: 'consumer-team-member' });
  const client = await signedInClient(app, user);
  const page = await client.get(path);
  const reply = await client.post(path, { name });
  const requests = await requestPortal(app, 'GET', '/portal-api/organisation-requests?per_page=1000');
  const request = requests.find((it: { AdminID: number }) => it.AdminID === user.ID);
  return { user, client, name, page, reply, request };
}
const readUser = (app: TestApp, id: number) => requestPortal(app, 'GET', `/portal-api/users/${id}`);

onEveryEngine(
  'portal.organisation_requests open',
  app => {
    test('a developer has the organisation at once, as its administrator', async () => {
      const { user, client, name, reply, request } = await ask(app());
      assert.equal(reply.location, '/portal/private/users');
      assert.deepEqual(await readLastAudit(app()), ['requestOrganisation', `portal:${user.ID}`, '', 303]);
      const { Role, Organisation, OrganisationID } = await readUser(app(), user.ID);
      assert.deepEqual([Role, Organisation], ['consumer-admin', name]);
      assert.deepEqual([request.Status, request.OrganisationID], ['approved', OrganisationID]);
      assert.equal((await client.get(path)).location, '/portal/private/users');
      assert.equal((await client.post(path, { name: `${name} 2` })).location, '/portal/private/users');
    });

    test('a name that another organisation has is refused, and leaves no request', async () => {
      const { name } = await ask(app());
      const second = await ask(app(), name.toUpperCase());
      assert.equal(second.reply.status, 422);
      assert.match(second.reply.text, /is taken by an organisation/);
      assert.equal(second.request, undefined);
      assert.equal((await readUser(app(), second.user.ID)).OrganisationID, 1);
    });
  },
  { settings: { 'portal.organisation_requests': 'open' } },
);

onEveryEngine(
  'portal.organisation_requests off',
  app => {
    test('the page names the administrator instead of a form, and a sent form changes nothing', async () => {
      const { user, client, page, reply, request } = await ask(app());
      for (const { status, text } of [page, reply]) {
        assert.equal(status, 200);
        assert.match(text, /Organisations are not created here/);
        assert.doesNotMatch(text, /name="name"/);
      }
      assert.equal(request, undefined);
      assert.equal((await readUser(app(), user.ID)).OrganisationID, 1);
      assert.doesNotMatch((await client.get('/portal/private/users')).text, /href="\/portal\/private\/organisation"/);
    });
  },
  { settings: { 'portal.organisation_requests': 'off' } },
);
