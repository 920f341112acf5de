import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertAccessible } from '../support/dashboard-app.ts';
import { type MailServer, startMailServer } from '../support/mail.ts';
import { addApp, requestPortal } from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import { addSiteDeveloper, signInBySite, sitePassword } from '../support/portal-site.ts';

describe('Flows of teams and organisations, with mails', () => {
  const settings: Record<string, string> = { 'portal.registration': 'open' };
  let mails: MailServer;
  // Before the hook that starts the product with these settings.
  before(async () => {
    mails = await startMailServer({ user: 'portal', password: 'mail-secret-1' });
    Object.assign(settings, {
      'mail.smtp_url': mails.url,
      'mail.from': 'portal@example.org',
      'mail.require_tls': 'false',
      'portal.admin_mail': 'admins@example.org',
    });
  });
  const portal = testPortalAdmin({ settings });
  after(() => mails?.close());

  /** Path and query of the link in the next mail to an address. */
  async function takeLink(address: string, path: string): Promise<string> {
    for (;;) {
      const { to, text } = await mails.take();
      const [link] = new RegExp(`https?://[^\\s"<>]*${path}[^\\s"<>]*`).exec(text) ?? [];
      if (to.includes(address) && link) return new URL(link).pathname + new URL(link).search;
    }
  }
  const read = (path: string) => requestPortal(portal.app(), 'GET', `/portal-api${path}`);

  test('a developer gets an organisation, invites, and removes a member whose apps go over', async () => {
    const founder = await addSiteDeveloper(portal.app(), {
      First: 'Fay',
      Last: 'Founder',
      Role: 'consumer-team-member',
    });
    const page = await portal.openAs(founder, '/portal/private/users');
    await page.getByRole('link', { name: 'Create an organisation' }).click();
    await page.getByLabel('Name').fill('Acme');
    await assertAccessible(page, 'request for an organisation');
    await page.getByRole('button', { name: 'Create organisation' }).click();
    await page.getByRole('heading', { name: 'Your organisation waits for approval' }).waitFor();

    const decision = await takeLink('admins@example.org', '/admin/organisation_requests/');
    const office = await portal.openAs(await portal.anAdmin(), decision);
    await office.getByLabel('Name of the organisation').fill('Acme Ltd');
    await office.getByRole('button', { name: 'Approve request' }).click();
    await office.getByText('The organisation was created').waitFor();

    await page.goto(`${portal.app().url.portal}/portal/private/users`);
    await page.getByText('Acme Ltd', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Invite', exact: true }).click();
    await page.getByLabel('E-mail address').fill('dana@example.org');
    await page.getByLabel('First name').fill('Dana');
    await assertAccessible(page, 'invitation form');
    await page.getByRole('button', { name: 'Send invitation' }).click();
    await page.getByText('The invitation was sent.').waitFor();
    await page.getByRole('row', { name: /dana@example\.org.*Invited/ }).waitFor();
    const shared = await addApp(portal.app(), { UserID: founder.ID, Name: 'Shared app' });
    await addApp(portal.app(), { UserID: founder.ID, Name: 'Personal app', Visibility: 'personal' });

    const voided = await takeLink('dana@example.org', '/auth/password/register');
    await page.getByRole('button', { name: 'Send again to dana@example.org' }).click();
    await page.getByRole('row', { name: /dana@example\.org.*Invited/ }).waitFor();
    const link = await takeLink('dana@example.org', '/auth/password/register');
    assert.notEqual(link, voided);
    const joining = await portal.open(voided);
    await joining.getByRole('heading', { name: 'This invitation does not work' }).waitFor();
    await joining.goto(portal.app().url.portal + link);
    assert.equal(await joining.getByLabel('First name').inputValue(), 'Dana');
    await joining.getByLabel('Last name').fill('Scully');
    await joining.getByLabel('Password', { exact: true }).fill(sitePassword);
    await joining.getByLabel('Password again').fill(sitePassword);
    await assertAccessible(joining, 'invitation');
    await joining.getByRole('button', { name: 'Create account' }).click();
    await joining.getByRole('heading', { level: 1, name: 'Team' }).waitFor();
    await joining.getByRole('link', { name: 'My apps' }).click();
    await joining.getByRole('link', { name: 'Shared app' }).waitFor();
    assert.equal(await joining.getByText('Personal app').count(), 0);
    const { UserID } = await read(`/apps/${shared.ID}`);
    assert.equal(UserID, founder.ID);

    const dana = (await read('/users')).find((it: { Email: string }) => it.Email === 'dana@example.org');
    const own = await addApp(portal.app(), { UserID: dana.ID, Name: 'App of Dana' });
    await page.goto(`${portal.app().url.portal}/portal/private/users`);
    await page.getByRole('link', { name: 'Dana Scully' }).click();
    await page.getByText('Its 1 app goes').waitFor();
    await assertAccessible(page, 'member');
    await page.getByRole('button', { name: 'Remove Dana Scully' }).click();
    await page.getByText('The member was removed').waitFor();
    assert.equal((await read(`/apps/${own.ID}`)).UserID, founder.ID);
    await page.getByRole('link', { name: 'My apps' }).click();
    await page.getByRole('link', { name: 'App of Dana' }).waitFor();
    await joining.goto(`${portal.app().url.portal}/portal/private/apps`);
    assert.equal(await joining.getByText('App of Dana').count(), 0);
    await joining.getByRole('link', { name: 'Notifications, 1 unread' }).click();
    await joining.getByText('You were removed from Acme Ltd').waitFor();
    await assertAccessible(joining, 'notifications');
    await joining.getByRole('button', { name: 'Mark all as read' }).click();
    await joining.getByRole('link', { name: 'Notifications', exact: true }).waitFor();
  });

  test('a visitor joins a team by an invite code; a used or expired code is named as such', async () => {
    const organisation = await requestPortal(portal.app(), 'POST', '/portal-api/organisations', { Name: 'Partners' });
    const path = `/portal-api/organisations/${organisation.ID}/teams`;
    const team = await requestPortal(portal.app(), 'POST', path, { Name: 'Mobile' });
    const addCode = (more: object) =>
      requestPortal(portal.app(), 'POST', '/portal-api/invite-codes', { TeamID: team.ID, ...more }, 201);
    const [{ Code }, expired] = [await addCode({ Quota: 1 }), await addCode({ Expires: '2001-01-01 00:00' })];
    const toSignUp = (code: string) => `/auth/password/register?invite=${encodeURIComponent(code)}`;
    const page = await portal.open(toSignUp(Code));
    await page.getByText('You join Mobile of Partners.').waitFor();
    await page.getByLabel('E-mail address').fill('mo@example.org');
    await page.getByLabel('First name').fill('Mo');
    await page.getByLabel('Last name').fill('Bile');
    await page.getByLabel('Password', { exact: true }).fill(sitePassword);
    await page.getByLabel('Password again').fill(sitePassword);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
    await page.goto(portal.app().url.portal + (await takeLink('mo@example.org', '/auth/verify')));
    await page.getByLabel('Password', { exact: true }).fill(sitePassword);
    await page.getByRole('button', { name: 'Confirm address' }).click();
    await page.locator('.notice').getByRole('link', { name: 'Sign in' }).click();
    await signInBySite(page, { Email: 'mo@example.org', Password: sitePassword });
    await page.goto(`${portal.app().url.portal}/portal/private/users`);
    await page.getByText('Partners').first().waitFor();
    await page.getByRole('row', { name: /mo@example\.org.*Mobile/ }).waitFor();

    const visitor = await portal.open(toSignUp(Code));
    await visitor.getByText('This invite code was used as often as it can be').waitFor();
    await visitor.goto(portal.app().url.portal + toSignUp(expired.Code));
    await visitor.getByText('This invite code has expired').waitFor();
  });

  test('a new version of the terms is published, and a developer accepts it before going on', async () => {
    const office = await portal.openAs(await portal.anAdmin(), '/admin/terms/new');
    await office.getByRole('textbox', { name: /^Version/ }).fill('2030-01');
    await office.getByRole('textbox', { name: /^Text in Markdown/ }).fill('## Be kind');
    await office.getByRole('switch', { name: /^Publish/ }).check();
    await office.getByRole('button', { name: 'Create version' }).click();
    await office.getByText('No developer has accepted this version.').waitFor();
    const developer = await addSiteDeveloper(portal.app());
    const page = await portal.openAs(developer, '/portal/private/profile');
    await page.getByRole('heading', { name: 'Be kind' }).waitFor();
    await assertAccessible(page, 'terms of use');
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
    await office.reload();
    await office.getByText(developer.Email.toLowerCase()).waitFor();
  });
});
