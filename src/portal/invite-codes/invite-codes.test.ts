import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId, createUuid } from '#base/ids.ts';
import { expectProblem } from '../../../tests/contract/expect-problem.ts';
import { engines, startApp, type TestApp } from '../../../tests/support/app.ts';
import { type MailServer, startMailServer } from '../../../tests/support/mail.ts';
import { requestPortal } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { createSiteClient } from '../../../tests/support/site-client.ts';
import { problem } from '../problems.ts';

const anAddress = () => `new-${createPublicId().toLowerCase()}@example.org`;
const guesses = 40;

for (const engine of engines)
  describe(`invite codes of the portal on ${engine}`, () => {
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
          'sign_in.max_address_failures': String(guesses),
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
    async function addTeam() {
      const organisation = await ok('POST', '/organisations', { Name: `Org ${createPublicId()}` });
      return { organisation, team: await ok('POST', `/organisations/${organisation.ID}/teams`, { Name: 'Mobile' }) };
    }
    const aCode = async (more: Record<string, unknown> = {}) =>
      ok('POST', '/invite-codes', { TeamID: (await addTeam()).team.ID, ...more }, 201);
    const signUp = async (email: string, code: string) => {
      const client = createSiteClient(app);
      await client.get('/auth/password/register');
      const person = { email, first: 'New', last: 'Dev', password1: sitePassword, password2: sitePassword };
      return client.post('/auth/password/register', { ...person, invite_id: code });
    };
    /** The token of the mail that confirms an address. */
    async function takeToken(address: string): Promise<string> {
      for (;;) {
        const { to, text } = await mail.take();
        const token = to.includes(address) ? /verify\?token=(\S+)/.exec(text)?.[1] : undefined;
        if (token) return token;
      }
    }
    const confirm = async (address: string) =>
      createSiteClient(app).post('/auth/verify', { token: await takeToken(address), password: sitePassword });
    const findUser = async (email: string) =>
      (await ok('GET', '/users?per_page=1000')).find((it: { Email: string }) => it.Email === email);

    test('a team has a bounded number of codes, also when a code gets another team', async () => {
      const { ID, TeamID } = await aCode();
      const { services, records } = app.application.installation;
      const { inviteCodes } = services.portal;
      const { ID: _id, ...stored } = (await inviteCodes.get(ID))!;
      await records.write(async () => {
        for (let count = 1; count < 1000; count++) await inviteCodes.insert(stored);
      });
      const body = { TeamID };
      await expectProblem(app, 'createInviteCode', problem.too_many_codes, '/portal-api/invite-codes', { body });
      const other = await aCode();
      const otherPath = `/portal-api/invite-codes/${other.ID}`;
      await expectProblem(app, 'updateInviteCode', problem.too_many_codes, otherPath, { body });
      assert.equal((await ok('GET', `/invite-codes/${other.ID}`)).TeamID, other.TeamID);
      await ok('PUT', `/invite-codes/${ID}`, { TeamID, Quota: 2 });
      await ok('DELETE', `/invite-codes/${ID}`);
      await ok('POST', '/invite-codes', body, 201);
    });

    test('a code is created, listed, changed and deleted, and its text stays', async () => {
      const { team, organisation } = await addTeam();
      const code = await aCode({ TeamID: team.ID, Quota: '3', Expires: '2090-01-31 12:00' });
      assert.match(code.Code, /^[0-9a-f]{32}$/);
      assert.equal(code.URL, `https://dev.example.org/auth/password/register?invite=${code.Code}`);
      assert.deepEqual(
        [code.Team, code.OrganisationID, code.Quota, code.Used, code.Expires, code.Active],
        ['Mobile', organisation.ID, 3, 0, '2090-01-31 12:00', true],
      );
      assert.deepEqual((await ok('GET', '/invite-codes?per_page=1'))[0], code);
      const changed = await ok('PUT', `/invite-codes/${code.ID}`, { ...code, Active: false, Expires: '' });
      assert.deepEqual([changed.Code, changed.Active, changed.Expires, changed.Quota], [code.Code, false, '', 3]);
      for (const [member, value] of Object.entries({
        TeamID: 999_999,
        Quota: 0,
        Expires: '2090-13-31 12:00',
        Qouta: 1,
      }))
        assert.match(
          (await ask('PUT', `/invite-codes/${code.ID}`, { [member]: value })).body.errors[0],
          new RegExp(member),
        );
      await ok('DELETE', `/invite-codes/${code.ID}`);
      assert.equal((await ask('DELETE', `/invite-codes/${code.ID}`)).status, 404);
      assert.equal((await ask('GET', `/invite-codes/${code.ID}`)).status, 404);
      assert.equal((await ask('PUT', `/invite-codes/${code.ID}`, {})).status, 422);
    });

    test('the database has no code in clear text', async () => {
      const { Code } = await aCode();
      const { records } = app.application.installation;
      const rows = await records.db.selectFrom('portal_invite_codes').selectAll().execute();
      assert.equal(JSON.stringify(rows).includes(Code), false);
    });

    test('a sign-up with a code joins its team and organisation, and the form says which', async () => {
      const { team, organisation } = await addTeam();
      const { Code, ID } = await aCode({ TeamID: team.ID });
      const form = await createSiteClient(app).get(`/auth/password/register?invite=${Code}`);
      assert.match(form.text, new RegExp(`You join Mobile of ${organisation.Name}`));
      const email = anAddress();
      assert.match((await signUp(email, Code.toUpperCase())).text, /Check your mail/);
      assert.equal((await ok('GET', `/invite-codes/${ID}`)).Used, 0, 'an unconfirmed address uses nothing');
      assert.equal((await confirm(email)).status, 200);
      const { ID: userId, Role } = await findUser(email);
      const { Teams, OrganisationID } = await ok('GET', `/users/${userId}`);
      assert.deepEqual([Role, OrganisationID, Teams[0].ID], ['consumer-team-member', organisation.ID, team.ID]);
      assert.equal((await ok('GET', `/invite-codes/${ID}`)).Used, 1);
    });

    test('the code of a sign-up is not used where the owner of the address sets another password', async () => {
      const { Code, ID, OrganisationID: codeOrganisation } = await aCode();
      const email = anAddress();
      await signUp(email, Code);
      const own = { own: '1', new_password: sitePassword, confirm_password: sitePassword };
      const token = await takeToken(email);
      assert.equal((await createSiteClient(app).post('/auth/verify', { token, ...own })).status, 200);
      const { OrganisationID } = await findUser(email);
      assert.deepEqual([OrganisationID, (await ok('GET', `/invite-codes/${ID}`)).Used], [1, 0]);
      assert.notEqual(codeOrganisation, 1);
    });

    test('an exhausted, an expired, an inactive and an unknown code have their own texts', async () => {
      const [exhausted, expired, inactive] = [
        await aCode(),
        await aCode({ Expires: '2001-01-01 00:00' }),
        await aCode(),
      ];
      const email = anAddress();
      await signUp(email, exhausted.Code);
      await confirm(email);
      await ok('PUT', `/invite-codes/${inactive.ID}`, { Active: false });
      const texts = {
        [exhausted.Code]: /used as often as it can be/,
        [expired.Code]: /has expired/,
        [inactive.Code]: /is not active/,
        [createUuid().replaceAll('-', '')]: /does not exist/,
        "' or 1=1": /does not exist/,
      };
      for (const [code, text] of Object.entries(texts)) {
        const refused = await signUp(anAddress(), code);
        assert.equal(refused.status, 422);
        assert.match(refused.text, text);
      }
    });

    test('of concurrent confirmations as many use a code as its quota allows', async () => {
      const { Code, ID } = await aCode({ Quota: 2 });
      const tokens = [];
      for (let place = 0; place < 4; place++) {
        const email = anAddress();
        await signUp(email, Code);
        tokens.push(await takeToken(email));
      }
      const replies = await Promise.all(
        tokens.map(token => createSiteClient(app).post('/auth/verify', { token, password: sitePassword })),
      );
      assert.deepEqual(replies.map(it => it.status).sort(), [200, 200, 422, 422]);
      assert.equal((await ok('GET', `/invite-codes/${ID}`)).Used, 2);
    });

    test('a code ends with its team and its organisation', async () => {
      const { team, organisation } = await addTeam();
      const first = await aCode({ TeamID: team.ID });
      await ok('DELETE', `/organisations/${organisation.ID}/teams/${team.ID}`);
      const [defaultTeam] = (await ok('GET', `/organisations/${organisation.ID}`)).Teams;
      const second = await aCode({ TeamID: defaultTeam.ID });
      await ok('DELETE', `/organisations/${organisation.ID}`);
      for (const { ID } of [first, second]) await ok('GET', `/invite-codes/${ID}`, undefined, 404);
    });

    test('a client that guesses codes is refused, also with a right one', async () => {
      const { Code } = await aCode();
      for (let guess = 0; guess <= guesses; guess++)
        await createSiteClient(app).get(`/auth/password/register?invite=${createUuid().replaceAll('-', '')}`);
      const refused = await createSiteClient(app).get(`/auth/password/register?invite=${Code}`);
      assert.equal(refused.status, 429);
      assert.doesNotMatch(refused.text, /You join/);
    });
  });
