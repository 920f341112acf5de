import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets } from '../../../../tests/support/app.ts';
import { addPerson } from '../../../../tests/support/browser.ts';
import { type OidcForger, startForger } from '../../../../tests/support/oidc-forger.ts';
import { type SamlTestProvider, samlEntityId, startSamlProvider } from '../../../../tests/support/saml.ts';
import { directoryAdmin, directoryBase, type Slapd, startSlapd } from '../../../../tests/support/services/slapd.ts';
import { mask } from './secrets.ts';

const secret = `planted-test-${createPublicId()}`;
rememberSecrets({ secret, admin: directoryAdmin.password });

let forger: OidcForger;
let saml: SamlTestProvider;
let slapd: Slapd;
before(async () => {
  [forger, saml, slapd] = await Promise.all([startForger(), startSamlProvider(), startSlapd([])]);
});
after(async () => {
  await Promise.all([forger?.close(), saml?.close(), slapd?.stop()]);
});

const oidc = (DiscoverURL = `${forger.issuer}/.well-known/openid-configuration`, Secret = secret) => ({
  Name: 'OpenID',
  ProviderName: 'SocialProvider',
  ProviderConfig: { UseProviders: [{ Name: 'openid-connect', Key: 'client', Secret, DiscoverURL }] },
});
const samlProfile = (ProviderConfig: object) => ({ Name: 'SAML', ProviderName: 'SAMLProvider', ProviderConfig });
const ldap = (more: object = {}) => ({
  Name: 'Directory',
  ProviderName: 'ADProvider',
  ProviderConfig: {
    LDAPServer: '127.0.0.1',
    LDAPPort: String(slapd.port),
    LDAPAdminUser: directoryAdmin.name,
    LDAPAdminPassword: directoryAdmin.password,
    LDAPBaseDN: directoryBase,
    LDAPFilter: '(uid=*USERNAME*)',
    ...more,
  },
});

onEveryEngine('Tests of identity profiles', app => {
  const testNew = (body: unknown, credential?: string) =>
    app().ask('POST', '/api/sso/profiles/test', { body, ...(credential && { credential }) });

  /** Status of each check, by name. */
  async function readChecks(body: unknown) {
    const answer = await testNew(body);
    assert.equal(answer.status, 200, answer.text);
    const list = answer.body.checks as { check: string; status: string; message: string }[];
    const { Status, Message } = answer.body as Record<string, string>;
    return { checks: Object.fromEntries(list.map(it => [it.check, it.status])), list, Status, Message };
  }

  test('a usable provider of each protocol passes, and nothing is stored', async () => {
    const passed = await readChecks(oidc());
    assert.deepEqual(passed.checks, { discovery: 'passed', keys: 'passed' });
    assert.deepEqual([passed.Status, passed.Message], ['OK', 'The identity provider is usable']);
    for (const config of [
      { IDPMetadataURL: saml.metadataUrl },
      { IDPMetadata: await (await fetch(saml.metadataUrl)).text() },
    ]) {
      const { checks, list } = await readChecks(samlProfile(config));
      assert.deepEqual(checks, { metadata: 'passed', certificates: 'passed' });
      assert.deepEqual(
        list.map(it => it.message),
        [`entity id ${samlEntityId}`, '1 signing certificates, 0 expired'],
      );
    }
    assert.deepEqual((await readChecks(ldap())).checks, { connection: 'passed', bind: 'passed', search: 'passed' });
    const byName = { LDAPAdminUser: '', LDAPAdminPassword: '', LDAPBaseDN: '', LDAPUserDN: 'uid=*USERNAME*,dc=x' };
    assert.deepEqual((await readChecks(ldap(byName))).checks, {
      connection: 'passed',
      bind: 'skipped',
      search: 'skipped',
    });
    assert.deepEqual((await app().ask('GET', '/api/sso/profiles')).body.profiles, []);
  });

  test('an unusable provider fails the check that finds it, with its reason', async () => {
    const unused = createServer().listen(0, '127.0.0.1');
    await once(unused, 'listening');
    const { port } = unused.address() as AddressInfo;
    unused.close();
    await once(unused, 'close');
    const discovery = '/.well-known/openid-configuration';
    const cases: [unknown, string, RegExp][] = [
      [oidc(`http://127.0.0.1:${port}${discovery}`), 'discovery', /./],
      [oidc(`${forger.issuer}/other${discovery}`), 'discovery', /./],
      [samlProfile({ IDPMetadataURL: `http://127.0.0.1:${port}/` }), 'metadata', /./],
      [samlProfile({ IDPMetadata: '<a/>' }), 'metadata', /entity id/],
      [ldap({ LDAPPort: String(port) }), 'connection', /./],
      [ldap({ LDAPStartTLS: true }), 'connection', /certificate/],
      [ldap({ LDAPAdminPassword: 'wrong' }), 'bind', /refuses LDAPAdminUser/],
      [ldap({ LDAPBaseDN: 'dc=nowhere,dc=org' }), 'search', /LDAPBaseDN does not exist/],
    ];
    for (const [body, check, message] of cases) {
      const { Status, Message, list } = await readChecks(body);
      const failed = list.filter(it => it.status === 'failed');
      assert.deepEqual([Status, failed.map(it => it.check)], ['Error', [check]], JSON.stringify(list));
      assert.match(failed[0]!.message, message);
      assert.ok(Message!.startsWith(`${check}: `));
    }
    forger.discovery = { jwks_uri: `${forger.issuer}/token` };
    assert.deepEqual((await readChecks(oidc())).checks, { discovery: 'passed', keys: 'failed' });
    forger.discovery = { issuer: 'https://other.example' };
    assert.deepEqual((await readChecks(oidc())).checks, { discovery: 'failed', keys: 'skipped' });
    forger.discovery = {};
  });

  test('a saved profile is tested with its stored secrets, which no response has', async () => {
    const { Meta: id } = (await app().ask('POST', '/api/sso/profiles', { body: ldap() })).body;
    const tested = await app().ask('POST', `/api/sso/profiles/${id}/test`);
    assert.equal(tested.body.Status, 'OK', tested.text);
    assert.ok(!tested.text.includes(directoryAdmin.password));
    const { accessKey } = await app().stranger();
    const foreign = await app().ask('POST', `/api/sso/profiles/${id}/test`, { credential: accessKey });
    assert.equal(foreign.status, 404);
    assert.equal((await testNew(ldap({ LDAPAdminPassword: mask }))).status, 400);
    await app().ask('DELETE', `/api/sso/profiles/${id}`);
  });

  test('a test requires what saving requires', async () => {
    const reader = await addPerson(app(), { user_permissions: { idm: 'read' } });
    assert.equal((await testNew(oidc(), reader.accessKey)).status, 403);
    const author = await addPerson(app(), { user_permissions: { idm: 'write' } });
    assert.equal((await testNew(oidc(), author.accessKey)).status, 200);
    const group = { name: 'g', user_permissions: { apis: 'write' } };
    const DefaultUserGroupID = (await app().ask('POST', '/api/usergroups', { body: group })).body.Meta;
    assert.equal((await testNew({ ...oidc(), DefaultUserGroupID }, author.accessKey)).status, 403);
    const refused = await testNew(oidc('http://idp.example/.well-known/openid-configuration'));
    assert.deepEqual([refused.status, /must be an https URL/.test(refused.text)], [400, true]);
  });

  test('a provider outside the networks of the organisation is not connected to', async () => {
    const { orgId, accessKey } = await app().stranger();
    const body = { networks: ['public'] };
    assert.equal((await app().ask('PUT', `/admin/organisations/${orgId}/grants`, { body })).status, 200);
    const before = forger.discoveryRequests;
    for (const profile of [oidc(), samlProfile({ IDPMetadataURL: saml.metadataUrl }), ldap()]) {
      const answer = await testNew(profile, accessKey);
      assert.equal(answer.body.Status, 'Error', answer.text);
      assert.match(answer.body.Message, /refused|not allowed/);
    }
    assert.equal(forger.discoveryRequests, before);
  });

  test('wrong passwords of the administrator of a directory are limited as failed sign-ins', async () => {
    const LDAPAdminUser = `cn=guessed,${directoryBase}`;
    for (let attempt = 0; attempt < 10; attempt++)
      assert.equal((await testNew(ldap({ LDAPAdminUser, LDAPAdminPassword: `wrong ${attempt}` }))).status, 200);
    assert.equal((await testNew(ldap({ LDAPAdminUser }))).status, 429);
    const { status, body, text } = await app().ask('POST', '/api/sso/profiles', { body: ldap({ LDAPAdminUser }) });
    assert.equal(status, 200, text);
    assert.equal((await app().ask('POST', `/api/sso/profiles/${body.Meta}/test`)).status, 429);
  });
});
