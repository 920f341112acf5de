import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { expectProblem } from '../../../tests/contract/expect-problem.ts';
import { engines, startApp, type TestApp } from '../../../tests/support/app.ts';
import { readLastAudit } from '../../../tests/support/last-audit.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';
import { addDeveloper, requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../tests/support/site-client.ts';
import { problem } from '../problems.ts';

const anAddress = () => `new-${createPublicId().toLowerCase()}@example.org`;
const passwords = { password1: sitePassword, password2: sitePassword };
const names = { first: 'New', last: 'Comer' };
const tokenOf = (url: string) => new URL(url, 'http://localhost').searchParams.get('token')!;
const accept = (client: SiteClient, url: string, more: Record<string, string> = {}) =>
  client.post('/auth/invitation', { token: tokenOf(url), ...names, ...passwords, ...more });

for (const engine of engines)
  describe(`invitations of the portal on ${engine}`, () => {
    let app: TestApp;
    let mail: MailServer;
    before(async () => {
      mail = await startMailServer({ user: 'gw', password: 'secret' });
      app = await startApp(engine, {
        settings: {
          'mail.smtp_url': mail.url,
          'mail.from': 'portal@example.org',
          'mail.require_tls': 'false',
          'portal.url': 'https://dev.example.org',
          'portal.registration': 'open',
          'portal.invitation_ttl_seconds': '3600',
          'sign_in.max_address_failures': '1000',
        },
      });
    });
    after(async () => {
      await app?.close();
      await mail?.close();
    });

    const ok = (method: string, path: string, body?: unknown, status = 200) =>
      requestPortal(app, method, `/portal-api${path}`, body, status);
    const ask = (method: string, path: string, body?: unknown) =>
      app.ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
    const invite = (more: Record<string, unknown> = {}) =>
      ok('POST', '/invitations', { Email: anAddress(), ...more }, 201);
    const anOrganisation = () => ok('POST', '/organisations', { Name: `Org ${createPublicId()}` });
    const findUser = async (email: string) =>
      (await ok('GET', '/users?per_page=1000')).find((it: { Email: string }) => it.Email === email);
    async function anOrganisationAdmin() {
      const organisation = await anOrganisation();
      const place = { OrganisationID: organisation.ID, Role: 'consumer-admin', Password: sitePassword };
      return { organisation, admin: await addDeveloper(app, { First: 'Ada', Last: 'Admin', ...place }) };
    }
    /** The mail to an address with this subject, and the path of its first link. */
    async function takeMail(address: string, subject: RegExp) {
      for (;;) {
        const { to, text } = await mail.take();
        if (to.includes(address) && subject.test(text))
          return { text, url: /https:\/\/dev\.example\.org(\/\S*)/.exec(text)?.[1] ?? '' };
      }
    }

    test('a mailed link sets names and password, and the browser is signed in and in the team', async () => {
      const organisation = await anOrganisation();
      const team = await ok('POST', `/organisations/${organisation.ID}/teams`, { Name: 'Mobile' });
      const place = { OrganisationID: organisation.ID, Teams: [team.ID], Role: 'consumer-admin' };
      const { Email, InviteURL, Status } = await invite({ First: 'Dana', ...place });
      assert.equal(Status, 'pending');
      const { text, url } = await takeMail(Email, /Subject: Developer portal invites you to Org/);
      assert.match(text, /as administrator of the organisation/);
      assert.equal(`https://dev.example.org${url}`, InviteURL);
      const visitor = createSiteClient(app);
      const page = await visitor.get(url);
      assert.match(page.text, /value="Dana"/);
      assert.match(page.text, new RegExp(`<strong>${organisation.Name}</strong>`));
      assert.equal(await findUser(Email), undefined, 'opening the link creates nothing');
      assert.equal((await accept(visitor, url, { password2: 'other' })).status, 422);
      const joined = await accept(visitor, url);
      assert.deepEqual([joined.status, joined.location], [303, '/portal/private/users']);
      const { ID, Active, Role } = await findUser(Email);
      const { Teams } = await ok('GET', `/users/${ID}`);
      assert.deepEqual([Active, Role, Teams.map((it: { ID: number }) => it.ID)], [true, 'consumer-admin', [team.ID]]);
      assert.deepEqual(await readLastAudit(app), ['acceptInvitation', `portal:${ID}`, '', 303]);
      assert.match((await visitor.get('/portal/private/users')).text, /Mobile/);
      assert.equal((await accept(createSiteClient(app), url)).status, 410);
    });

    test('a developer without an organisation sees the products first', async () => {
      const { InviteURL } = await invite();
      const { location } = await accept(createSiteClient(app), InviteURL);
      assert.equal(location, '/portal/catalogue-products');
    });

    test('of concurrent uses of a link one creates the account', async () => {
      const { InviteURL } = await invite();
      const replies = await Promise.all([1, 2, 3, 4].map(() => accept(createSiteClient(app), InviteURL)));
      assert.deepEqual(replies.map(it => it.status).sort(), [303, 410, 410, 410]);
    });

    test('a new link, a cancellation and the expiry end the former link', async () => {
      const { ID, InviteURL, Email } = await invite();
      const { InviteURL: second } = await ok('PUT', `/invitations/${ID}/resend`);
      assert.equal(
        (await createSiteClient(app).get(`/auth/password/register?token=${tokenOf(InviteURL)}`)).status,
        410,
      );
      assert.equal((await ask('POST', '/invitations', { Email })).status, 409);
      await ok('DELETE', `/invitations/${ID}`);
      assert.equal((await accept(createSiteClient(app), second)).status, 410);
      for (const [method, path] of [
        ['GET', ''],
        ['DELETE', ''],
        ['PUT', '/resend'],
      ] as const)
        assert.equal((await ask(method, `/invitations/${ID}${path}`)).status, method === 'PUT' ? 422 : 404);
      const third = await invite();
      const { invitations } = app.application.installation.services.portal;
      await invitations.change(third.ID, it => ({ ...it, ExpiresAt: 1 + it.CreatedAt - 60_000 }));
      assert.equal((await ok('GET', `/invitations/${third.ID}`)).Status, 'expired');
      assert.equal((await accept(createSiteClient(app), third.InviteURL)).status, 410);
    });

    test('an organisation has a bounded number of open invitations', async () => {
      const { ID: OrganisationID } = await anOrganisation();
      const user = await addDeveloper(app, { OrganisationID });
      const { services, records } = app.application.installation;
      const { invitations } = services.portal;
      const first = await invite({ OrganisationID });
      const { ID: _id, ...stored } = (await invitations.get(first.ID))!;
      await records.write(async () => {
        for (let count = 1; count < 500; count++)
          await invitations.insert({ ...stored, Email: anAddress(), Digest: createPublicId() });
      });
      const body = { Email: anAddress(), OrganisationID };
      const { too_many_invitations } = problem;
      await expectProblem(app, 'createInvitation', too_many_invitations, '/portal-api/invitations', { body });
      await expectProblem(app, 'sendUserInvite', too_many_invitations, `/portal-api/users/${user.ID}/send_invite`);
      await ok('DELETE', `/invitations/${first.ID}`);
      await ok('PUT', `/users/${user.ID}/send_invite`);
    });

    test('a user whose address is invited to the same organisation gets no second link', async () => {
      const { ID: OrganisationID } = await anOrganisation();
      const { ID, Email } = await invite({ OrganisationID });
      const user = await addDeveloper(app, { OrganisationID, Email });
      const path = `/portal-api/users/${user.ID}/send_invite`;
      await expectProblem(app, 'sendUserInvite', problem.invitation_exists, path);
      await ok('DELETE', `/invitations/${ID}`);
      await ok('PUT', `/users/${user.ID}/send_invite`);
    });

    test('tokens are stored as keyed hashes, and no answer but the first has one', async () => {
      const { ID, InviteURL } = await invite();
      const token = tokenOf(InviteURL);
      const { records } = app.application.installation;
      const rows = await records.db.selectFrom('portal_invitations').selectAll().execute();
      assert.equal(JSON.stringify(rows).includes(token), false);
      for (const path of [`/invitations/${ID}`, '/invitations?per_page=1000'])
        assert.equal(JSON.stringify(await ok('GET', path)).includes(token), false);
    });

    test('a developer without an organisation joins with the account; others cannot', async () => {
      const { organisation } = await anOrganisationAdmin();
      const known = await addDeveloper(app, { Password: sitePassword, Role: 'consumer-team-member' });
      const inactive = await addDeveloper(app, { Active: false });
      const elsewhere = await addDeveloper(app, { OrganisationID: (await anOrganisation()).ID });
      const linkFor = async (Email: string) =>
        (await invite({ Email, OrganisationID: organisation.ID, Role: 'consumer-admin' })).InviteURL;
      const link = new URL(await linkFor(known.Email));
      const { text } = await createSiteClient(app).get(link.pathname + link.search);
      assert.match(text, /Administrators of the organisation see its apps/);
      const joined = await accept(createSiteClient(app), link.href);
      assert.match(joined.text, /You have joined/);
      const { OrganisationID, Role } = await findUser(known.Email);
      assert.deepEqual([OrganisationID, Role], [organisation.ID, 'consumer-admin']);
      await signedInClient(app, known);
      for (const { Email } of [inactive, elsewhere]) {
        assert.equal((await accept(createSiteClient(app), await linkFor(Email))).status, 409);
        assert.notEqual((await findUser(Email)).OrganisationID, organisation.ID);
      }
      assert.equal((await ask('POST', '/invitations', { Email: known.Email, Role: 'provider-admin' })).status, 409);
    });

    test('a user without a password is invited to set one, which activates the account', async () => {
      const user = await addDeveloper(app, { Active: false });
      const { InviteURL: first } = await ok('PUT', `/users/${user.ID}/send_invite`);
      const { InviteURL, message } = await ok('PUT', `/users/${user.ID}/send_invite`);
      assert.equal(message, 'Action Send invite: Executed successfully');
      assert.equal((await accept(createSiteClient(app), first)).status, 410);
      assert.equal((await accept(createSiteClient(app), InviteURL)).status, 303);
      assert.equal((await findUser(user.Email)).Active, true);
      await signedInClient(app, user);
      assert.match((await ask('PUT', `/users/${user.ID}/send_invite`)).body.errors[0], /has a password/);
      assert.equal((await ask('PUT', '/users/999999/send_invite')).status, 422);
    });

    test('the admin of an organisation invites, sends again and cancels on the site', async () => {
      const { admin, organisation } = await anOrganisationAdmin();
      const client = await signedInClient(app, admin);
      const Email = anAddress();
      const second = anAddress();
      const fields = { email: Email, first: 'Dana', more: `${second}\n`, role: 'consumer-team-member' };
      assert.equal(
        (await client.post('/portal/private/users/invite', fields)).location,
        '/portal/private/users?done=invited',
      );
      const { url } = await takeMail(Email, /Subject: Ada Admin invites you to Org/);
      await takeMail(second, /invites you/);
      const listed = (await ok('GET', '/invitations?per_page=1000')).filter(
        (it: { OrganisationID: number }) => it.OrganisationID === organisation.ID,
      );
      assert.deepEqual(
        listed.map((it: { InviterID: number }) => it.InviterID),
        [admin.ID, admin.ID],
      );
      assert.match((await client.get('/portal/private/users')).text, new RegExp(`${Email}[^]*Invited, until`));
      const id = listed.find((it: { Email: string }) => it.Email === second).ID;
      await client.post(`/portal/private/users/invitations/${id}/resend`, {});
      await takeMail(second, /invites you/);
      await client.post(`/portal/private/users/invitations/${id}/cancel`, {});
      await ok('GET', `/invitations/${id}`, undefined, 404);
      assert.equal((await accept(createSiteClient(app), url)).status, 303);
      const joined = await findUser(Email);
      assert.deepEqual([joined.OrganisationID, joined.Role], [organisation.ID, 'consumer-team-member']);
    });

    test('no invitation of the site gives a role of the portal or a team of another organisation', async () => {
      const { admin } = await anOrganisationAdmin();
      const other = await anOrganisation();
      const foreign = await ok('POST', `/organisations/${other.ID}/teams`, { Name: 'Foreign' });
      const client = await signedInClient(app, admin);
      for (const role of ['provider-admin', 'super-admin', 'consumer-admin, provider-admin', '']) {
        const reply = await client.post('/portal/private/users/invite', { email: anAddress(), role });
        assert.equal(reply.status, 422, role);
      }
      const Email = anAddress();
      const smuggled = {
        email: Email,
        role: 'consumer-team-member',
        [`team_${foreign.ID}`]: 'on',
        Role: 'super-admin',
      };
      await client.post('/portal/private/users/invite', { ...smuggled, OrganisationID: String(other.ID) });
      const { url } = await takeMail(Email, /invites you/);
      await accept(createSiteClient(app), url, { role: 'super-admin', Role: 'super-admin' });
      const { ID } = await findUser(Email);
      const user = await ok('GET', `/users/${ID}`);
      assert.deepEqual([user.Role, user.OrganisationID], ['consumer-team-member', admin.OrganisationID]);
      assert.equal(
        user.Teams.some((it: { ID: number }) => it.ID === foreign.ID),
        false,
      );
    });

    test('developers, and admins of other organisations, neither see nor change invitations', async () => {
      const { organisation, admin } = await anOrganisationAdmin();
      const { ID, Email } = await invite({ OrganisationID: organisation.ID });
      const stranger = await signedInClient(app, (await anOrganisationAdmin()).admin);
      const member = await addDeveloper(app, {
        OrganisationID: organisation.ID,
        Role: 'consumer-team-member',
        Password: sitePassword,
      });
      for (const client of [stranger, await signedInClient(app, member)]) {
        assert.doesNotMatch((await client.get('/portal/private/users')).text, new RegExp(Email));
        for (const action of ['resend', 'cancel'])
          assert.equal((await client.post(`/portal/private/users/invitations/${ID}/${action}`, {})).status, 404);
      }
      const asMember = await signedInClient(app, member);
      assert.equal((await asMember.get('/portal/private/users/invite')).status, 404);
      assert.equal((await asMember.post('/portal/private/users/invite', { email: anAddress() })).status, 404);
      assert.match((await (await signedInClient(app, admin)).get('/portal/private/users')).text, new RegExp(Email));
    });

    test('an invitation ends when its sender is no longer admin, or its organisation is deleted', async () => {
      const { admin } = await anOrganisationAdmin();
      const client = await signedInClient(app, admin);
      const Email = anAddress();
      await client.post('/portal/private/users/invite', { email: Email, role: 'consumer-admin' });
      const { url } = await takeMail(Email, /invites you/);
      await ok('PUT', `/users/${admin.ID}`, { Role: 'consumer-team-member' });
      assert.equal((await accept(createSiteClient(app), url)).status, 410);
      const organisation = await anOrganisation();
      const { InviteURL, ID } = await invite({ OrganisationID: organisation.ID });
      await ok('DELETE', `/organisations/${organisation.ID}`);
      assert.equal((await accept(createSiteClient(app), InviteURL)).status, 410);
      await ok('GET', `/invitations/${ID}`, undefined, 404);
    });

    test('one address gets three mails in a window', async () => {
      const Email = anAddress();
      for (let sent = 0; sent < 3; sent++) {
        const { admin } = await anOrganisationAdmin();
        const reply = await (await signedInClient(app, admin)).post('/portal/private/users/invite', {
          email: Email,
          role: 'consumer-team-member',
        });
        assert.equal(reply.status, 303);
      }
      const { admin } = await anOrganisationAdmin();
      const client = await signedInClient(app, admin);
      const refused = await client.post('/portal/private/users/invite', { email: Email, role: 'consumer-team-member' });
      assert.equal(refused.status, 429);
    });
  });
