import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { rememberSecrets } from '../support/app.ts';
import { assertAccessible } from '../support/dashboard-app.ts';
import { type OidcProvider, oidcClient, startOidcProvider } from '../support/oidc.ts';
import { requestPortal } from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import { addTeam, developerProfile, findPortalUser } from '../support/portal-sign-on.ts';
import { type SamlTestProvider, startSamlProvider } from '../support/saml.ts';
import { directoryBase, type Slapd, startSlapd } from '../support/services/slapd.ts';

const directoryPassword = 'directory password of ann';
rememberSecrets({ directoryPassword });

describe('Single sign-on to the portal in the browser', () => {
  let provider: OidcProvider;
  let saml: SamlTestProvider;
  let slapd: Slapd;
  before(async () => {
    const ann = { uid: 'ann', password: directoryPassword, mail: 'ann@example.org', groups: ['devs'] };
    [provider, saml, slapd] = await Promise.all([startOidcProvider(), startSamlProvider(), startSlapd([ann])]);
  });
  after(() => Promise.all([provider?.close(), saml?.close(), slapd?.stop()]));
  /** Another site than that of the provider, whose host is 127.0.0.1: cookies are those of real installations. */
  const siteUrl = () => portal.app().url.portal.replace('127.0.0.1', 'localhost');
  const portal = testPortalAdmin({}, () => [siteUrl(), provider.issuer, saml.url]);
  let teams: Awaited<ReturnType<typeof addTeam>>[];

  test('an administrator creates a profile, and its test passes', async () => {
    const first = await addTeam(portal.app());
    teams = [first, await addTeam(portal.app(), first.organisation)];
    const page = await portal.openAs(await portal.anAdmin(), '/admin/sso_profiles');
    await page.getByRole('link', { name: 'Create sign-on profile' }).first().click();
    await page.getByLabel('Name (required)').fill('Company');
    await page.getByLabel('Address of the discovery document').fill(provider.discoverUrl);
    await page.getByLabel('Client id').fill(oidcClient.id);
    await page.getByLabel('Client secret').fill(oidcClient.secret);
    await page.getByLabel('URL of the portal').fill(siteUrl());
    await page.getByLabel('Claim or attribute with the groups').fill('groups');
    const mapping = { staff: String(teams[0]!.ID), devs: String(teams[1]!.ID) };
    await page.getByLabel('Groups to teams').fill(JSON.stringify(mapping));
    await page.getByRole('button', { name: 'Create sign-on profile' }).click();
    await page.getByRole('heading', { level: 1, name: 'Company' }).waitFor();
    const redirectUrl = `${siteUrl()}/tib/auth/company/openid-connect/callback`;
    await page.getByText(redirectUrl).waitFor();
    provider.serve(redirectUrl);
    await page.getByRole('button', { name: 'Test provider' }).click();
    const result = page.getByRole('list', { name: 'Result of the test' });
    await result.getByText(`issuer ${provider.issuer}`).waitFor();
    await page.getByLabel('Separator of groups in a text').fill(',');
    await page.getByRole('button', { name: 'Save sign-on profile' }).click();
    await page.getByText('Company was saved').waitFor();
    await assertAccessible(page, 'sign-on profile');
  });

  test('the first sign-on of a developer creates the account in the mapped teams, and leads to the page', async () => {
    const email = 'dana@example.org';
    provider.users.set('dana', { email, email_verified: true, name: 'Dana Scully', groups: 'devs,staff' });
    provider.account = 'dana';
    const page = await portal.open('/');
    await page.goto(`${siteUrl()}/portal/private/apps`);
    await assertAccessible(page, 'sign-in with single sign-on');
    await page.getByRole('link', { name: 'Sign in with Company' }).click();
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    const text = await page.locator('main').innerText();
    for (const { Name } of teams) assert.ok(text.includes(Name), text);
    assert.ok(text.includes(`of organisation ${teams[0]!.organisation.Name}`), text);
    await assertAccessible(page, 'landing of single sign-on');
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByRole('heading', { level: 1, name: /apps/i }).waitFor();
    const user = await findPortalUser(portal.app(), email);
    assert.deepEqual(user.Teams.map((it: { ID: number }) => it.ID).sort(), teams.map(it => it.ID).sort());
    await page.locator('.account summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.goto(`${siteUrl()}/auth/password/login?next=/portal/private/profile`);
    await page.getByRole('link', { name: 'Sign in with Company' }).click();
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
  });

  test('a developer signs on with SAML, whose page posts the response, and lands in the mapped team', async () => {
    const ProviderConfig = {
      IDPMetadataURL: saml.metadataUrl,
      SAMLBaseURL: siteUrl(),
      SAMLForenameClaim: 'first',
      SAMLSurnameClaim: 'last',
    };
    const mapping = { CustomUserGroupField: 'groups', UserGroupMapping: { devs: String(teams[1]!.ID) } };
    await requestPortal(
      portal.app(),
      'POST',
      '/portal-api/sso_profiles',
      {
        ID: 'works',
        Name: 'Works',
        ActionType: developerProfile,
        ProviderName: 'SAMLProvider',
        ProviderConfig,
        ...mapping,
      },
      201,
    );
    const attributes = { email: 'bob@example.org', first: 'Bob', last: 'Example', groups: ['devs'] };
    saml.user = { id: 'bob', attributes };
    const page = await portal.open('/');
    await page.goto(`${siteUrl()}/auth/password/login?next=/portal/private/profile`);
    await page.getByRole('link', { name: 'Sign in with Works' }).click();
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    await page.getByText(teams[1]!.Name).waitFor();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByText('bob@example.org').first().waitFor();
  });

  test('the form of a directory refuses a wrong password, signs a developer on, and out again', async () => {
    const ProviderConfig = {
      LDAPServer: '127.0.0.1',
      LDAPPort: String(slapd.port),
      LDAPUserDN: `uid=*USERNAME*,ou=people,${directoryBase}`,
    };
    const body = {
      ID: 'staff',
      Name: 'Staff',
      ActionType: developerProfile,
      ProviderName: 'ADProvider',
      ProviderConfig,
    };
    await requestPortal(portal.app(), 'POST', '/portal-api/sso_profiles', body, 201);
    const page = await portal.open('/');
    const signOn = async (password: string) => {
      await page.goto(`${siteUrl()}/auth/password/login?next=/portal/private/profile`);
      await page.getByLabel('User name').fill('ann');
      await page.getByLabel('Password of Staff').fill(password);
      await page.getByRole('button', { name: 'Sign in with Staff' }).click();
    };
    await signOn('wrong');
    await page.getByText('Wrong user name or password').waitFor();
    await assertAccessible(page, 'refused sign-on to a directory');
    await signOn(directoryPassword);
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    await page.getByRole('link', { name: 'Continue' }).click();
    await page.getByText('ann@example.org').first().waitFor();
    await page.locator('.account summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor();
  });

  test('with registered users only, an unknown one is refused in safe words', async () => {
    await requestPortal(portal.app(), 'PUT', '/portal-api/sso_profiles/company', { SSOOnlyForRegisteredUsers: true });
    provider.users.set('eve', { email: 'eve@example.org', email_verified: true, groups: 'devs' });
    provider.account = 'eve';
    const page = await portal.open('/');
    await page.goto(`${siteUrl()}/auth/password/login`);
    await page.getByRole('link', { name: 'Sign in with Company' }).click();
    await page.getByRole('heading', { name: 'Sign-on failed' }).waitFor();
    const text = await page.getByRole('alert').innerText();
    assert.match(text, /Only registered users may sign on/);
    assert.match(text, /Reference for the administrator of this portal: \w+/);
    assert.equal(await findPortalUser(portal.app(), 'eve@example.org'), undefined);
    await assertAccessible(page, 'failed single sign-on');
  });
});
