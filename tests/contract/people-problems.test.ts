import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import type { ProblemFactory } from '#base/problems.ts';
import { computeTotp, toTotpStep } from '#base/totp.ts';
import { problem } from '#people/problems.ts';
import { problem as signIn } from '#people/sessions/problems.ts';
import { problem as signOn } from '#people/single-sign-on/problems.ts';
import { type Answer, startApp, type TestApp } from '../support/app.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { addPerson, openBrowser, type Person } from '../support/browser.ts';
import { expectProblem } from './expect-problem.ts';

/** Problems of users, user groups, sessions and single sign-on, each through every operation that declares it. */

const dashboardUrl = 'https://dashboard.example';
let app: TestApp;
before(async () => {
  const settings = {
    'sso.permission_defaults': '{"IsAdmin":"admin"}',
    'sign_in.max_account_failures': '3',
    'sign_in.max_address_failures': '0',
    'dashboard.url': dashboardUrl,
  };
  app = await startApp('sqlite', { settings });
  const { organisation_id: orgId } = app.credentials;
  const { body } = await app.ask('GET', `/admin/organisations/${orgId}`);
  await ok('PUT', `/admin/organisations/${orgId}`, { ...body, sso_enabled: true });
});
after(() => app?.close());

async function ok(method: string, path: string, body?: unknown): Promise<Answer['body']> {
  const answer = await app.ask(method, path, { body });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

const newEmail = () => `${createPublicId()}@example.org`;
const user = (more: object = {}) => ({
  first_name: 'A',
  last_name: 'B',
  email_address: newEmail(),
  active: true,
  user_permissions: { apis: 'read' },
  ...more,
});
const group = (user_permissions: object = { apis: 'read' }) => ({ name: 'g', user_permissions });
const profile = (more: object = {}) => ({
  Name: 'Directory',
  ProviderName: 'ADProvider',
  ProviderConfig: { LDAPServer: '127.0.0.1', LDAPPort: '1', LDAPUserDN: 'uid=*USERNAME*,dc=example' },
  ...more,
});
const createGroup = async () => (await ok('POST', '/api/usergroups', group())).Meta as string;
const createUser = async (more: object = {}) => (await ok('POST', '/api/users', user(more))).Meta as string;
const createProfile = async () => (await ok('POST', '/api/sso/profiles', profile())).Meta as string;
/** A profile that users without all permissions may change. */
async function createOpenProfile(): Promise<string> {
  const { identityProfiles } = app.application.installation.services;
  const id = await createProfile();
  const stored = await identityProfiles.get(app.credentials.organisation_id, id);
  await identityProfiles.replace({ ...stored!, SignsInAccounts: false });
  return id;
}

/** A group that owns an API, which is hidden from users outside of it. */
async function createOwningGroup(): Promise<string> {
  const id = await createGroup();
  const api_definition = {
    name: `A ${createPublicId()}`,
    proxy: { listen_path: `/${createPublicId()}/`, target_url: 'http://127.0.0.1:1/' },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  };
  await ok('POST', '/api/apis', { api_definition, user_group_owners: [id] });
  return id;
}

interface Request {
  readonly operation: string;
  readonly path: string;
  readonly body?: unknown;
  readonly credential?: string;
}
interface Scenario {
  readonly problem: ProblemFactory;
  prepare(): Promise<readonly Request[]>;
}

const usersOf = (body: (more: object) => object, id: string): Request[] => [
  { operation: 'createUser', path: '/api/users', body: body({}) },
  { operation: 'updateUser', path: `/api/users/${id}`, body: body({}) },
  { operation: 'adminUpdateUser', path: `/admin/users/${id}`, body: body({}) },
];
const profilesOf = (more: object, id: string, credential?: string): Request[] =>
  Object.entries({
    createIdentityProfile: '/api/sso/profiles',
    updateIdentityProfile: `/api/sso/profiles/${id}`,
    testNewIdentityProfile: '/api/sso/profiles/test',
  }).map(([operation, path]) => ({
    operation,
    path,
    body: profile(more),
    ...(credential === undefined ? {} : { credential }),
  }));

const scenarios: readonly Scenario[] = [
  {
    problem: problem.email_exists,
    async prepare() {
      const email_address = newEmail();
      await createUser({ email_address });
      return usersOf(more => user({ email_address, ...more }), await createUser());
    },
  },
  {
    problem: problem.permission_unknown,
    async prepare() {
      const user_permissions = { nonsense: 'read' };
      return [
        ...usersOf(() => user({ user_permissions }), await createUser()),
        { operation: 'createUserGroup', path: '/api/usergroups', body: group(user_permissions) },
        { operation: 'updateUserGroup', path: `/api/usergroups/${await createGroup()}`, body: group(user_permissions) },
      ];
    },
  },
  {
    problem: problem.permission_level_invalid,
    prepare: async () => usersOf(() => user({ user_permissions: { IsAdmin: 'read' } }), await createUser()),
  },
  {
    problem: problem.group_unknown,
    prepare: async () => usersOf(() => user({ group_id: 'unknown' }), await createUser()),
  },
  {
    problem: problem.group_permission_invalid,
    async prepare() {
      const body = group({ IsAdmin: 'admin' });
      return [
        { operation: 'createUserGroup', path: '/api/usergroups', body },
        { operation: 'updateUserGroup', path: `/api/usergroups/${await createGroup()}`, body },
      ];
    },
  },
  {
    problem: problem.group_owns_hidden_apis,
    async prepare() {
      const id = await createOwningGroup();
      const user_permissions = { users: 'write', idm: 'write', apis: 'write' };
      const { accessKey: credential } = await addPerson(app, { user_permissions });
      const named = { GroupID: id, EmailAddress: newEmail(), ForSection: 'dashboard' };
      return [
        { operation: 'createUser', path: '/api/users', body: user({ group_id: id }), credential },
        { operation: 'createSignOnNonce', path: '/api/sso', body: named, credential },
        ...profilesOf({ DefaultUserGroupID: id }, await createOpenProfile(), credential),
      ];
    },
  },
  {
    problem: problem.only_admin_grants,
    async prepare() {
      const { accessKey: credential } = await addPerson(app, { user_permissions: { idm: 'write' } });
      const nonce = { EmailAddress: newEmail(), ForSection: 'dashboard' };
      const id = await createOpenProfile();
      return [
        { operation: 'createSignOnNonce', path: '/api/sso', body: nonce, credential },
        { operation: 'restoreIdentityProfileRevision', path: `/api/revisions/profiles/${id}/2/restore`, credential },
        ...profilesOf({}, id, credential),
      ];
    },
  },
  {
    problem: signOn.group_unknown,
    prepare: async () => profilesOf({ DefaultUserGroupID: 'unknown' }, await createProfile()),
  },
  {
    problem: problem.user_outranks,
    async prepare() {
      const user_permissions = { IsAdmin: 'admin', ResetPassword: 'admin', keys: 'deny' };
      const { accessKey: credential } = await addPerson(app, { user_permissions });
      const { id } = await addPerson(app, { user_permissions: { keys: 'read' } });
      return [
        { operation: 'createUserResetLink', path: `/api/users/${id}/actions/reset-link`, credential },
        { operation: 'removeSecondFactor', path: `/api/users/${id}/second-factor`, credential },
        { operation: 'revokeUser', path: `/api/users/${id}/actions/revoke`, credential },
        { operation: 'deleteUser', path: `/api/users/${id}`, credential },
      ];
    },
  },
  {
    problem: signIn.organisation_required,
    async prepare() {
      const { orgId } = await app.stranger();
      const email_address = newEmail();
      await createUser({ email_address });
      await ok('POST', '/admin/users', user({ email_address, org_id: orgId }));
      return [{ operation: 'adminCreateResetLink', path: '/admin/users/actions/reset-link', body: { email_address } }];
    },
  },
  {
    problem: signOn.user_not_allowed,
    async prepare() {
      const body = { EmailAddress: newEmail(), ForSection: 'dashboard', UserNotAllowed: true };
      return [
        { operation: 'createSignOnNonce', path: '/api/sso', body },
        {
          operation: 'adminCreateSignOnNonce',
          path: '/admin/sso',
          body: { ...body, OrgID: app.credentials.organisation_id },
        },
      ];
    },
  },
];

describe('Problems of users and groups', () => {
  for (const scenario of scenarios)
    test(scenario.problem.code, async () => {
      for (const { operation, path, body, credential } of await scenario.prepare()) {
        const asked = { ...(body === undefined ? {} : { body }), ...(credential === undefined ? {} : { credential }) };
        await expectProblem(app, operation, scenario.problem, path, asked);
      }
    });

  test('an organisation cannot be created or imported with a built-in permission as its own', async () => {
    const body = { id: createPublicId(), owner_name: 'O', additional_permissions: { apis: 'A' } };
    for (const path of ['/admin/organisations', '/admin/organisations/import']) {
      const { status, text } = await app.ask('POST', path, { body });
      assert.equal(status, 400, text);
      assert.match(text, /additional_permissions\.apis: is the name of a built-in permission/);
    }
  });

  test('tests of identity profiles wait with the sign-ons of the organisation', async () => {
    const { providerSlots } = app.application.installation.services;
    const id = await createProfile();
    const pending = Promise.withResolvers<void>();
    const orgId = app.credentials.organisation_id;
    const running = Array.from({ length: 10 }, () => providerSlots.run(orgId, () => pending.promise));
    const { too_many_sign_ons } = signOn;
    await expectProblem(app, 'testIdentityProfile', too_many_sign_ons, `/api/sso/profiles/${id}/test`);
    const asked = { body: profile() };
    await expectProblem(app, 'testNewIdentityProfile', too_many_sign_ons, '/api/sso/profiles/test', asked);
    pending.resolve();
    await Promise.all(running);
  });

  test('an organisation that is removed meanwhile has no settings', async () => {
    const { orgId, accessKey: credential } = await app.stranger();
    await app.application.installation.records.db.deleteFrom('organisations').where('id', '=', orgId).execute();
    const { organisation_not_found } = problem;
    const permissions = { body: { additional_permissions: {} }, credential };
    const rules = { body: { open_policy: { enabled: false, rules: '' } }, credential };
    await expectProblem(app, 'getCustomPermissions', organisation_not_found, '/api/org/permissions', { credential });
    await expectProblem(app, 'updateCustomPermissions', organisation_not_found, '/api/org/permissions', permissions);
    await expectProblem(app, 'getOrganisationRules', organisation_not_found, '/api/org/opa', { credential });
    await expectProblem(app, 'updateOrganisationRules', organisation_not_found, '/api/org/opa', rules);
  });

  test('a group or profile too many is refused, also one that is restored', async () => {
    const { records } = app.application.installation;
    const { orgId, accessKey: credential } = await app.stranger();
    const { body: made } = await app.ask('POST', '/api/usergroups', { body: group(), credential });
    await app.ask('DELETE', `/api/usergroups/${made.Meta}`, { credential });
    const rows = Array.from({ length: 1000 }, (_none, at) => ({ id: `g${orgId}${at}`, org_id: orgId }));
    const groups = rows.map(it => ({ ...it, name: '', created_at: 0, body: '{}' }));
    for (let at = 0; at < groups.length; at += 100)
      await records.db
        .insertInto('user_groups')
        .values(groups.slice(at, at + 100))
        .execute();
    const profiles = rows.map(it => ({ ...it, name: '', created_at: 0, body: '{}' }));
    for (let at = 0; at < profiles.length; at += 100)
      await records.db
        .insertInto('identity_profiles')
        .values(profiles.slice(at, at + 100))
        .execute();
    const { limit_reached } = problem;
    await expectProblem(app, 'createUserGroup', limit_reached, '/api/usergroups', { body: group(), credential });
    const restore = `/api/revisions/usergroups/${made.Meta}/1/restore`;
    await expectProblem(app, 'restoreUserGroupRevision', limit_reached, restore, { credential });
    const asked = { body: profile(), credential };
    await expectProblem(app, 'createIdentityProfile', limit_reached, '/api/sso/profiles', asked);
  });
});

/** Operations that a user confirms with its password. */
const confirmedOperations: Readonly<Record<string, string>> = {
  createTotp: '/api/session/totp',
  renewRecoveryCodes: '/api/session/recovery-codes',
  disableTotp: '/api/session/totp/disable',
  removePasskey: '/api/session/passkeys/unknown/remove',
  startPasskey: '/api/session/passkeys/challenge',
};

describe('Problems of sessions', () => {
  async function signInAs(person: Person) {
    const browser = openBrowser(app);
    const { status, text } = await browser.signIn({ username: person.username, password: person.password });
    assert.equal(status, 200, text);
    return browser;
  }

  test('wrong passwords and codes are limited in every operation that takes one', async () => {
    const person = await addPerson(app);
    const browser = await signInAs(person);
    const password = { password: 'wrong' };
    for (let attempt = 0; attempt < 3; attempt++)
      await expectProblem(browser, 'createTotp', signIn.reauthentication_failed, confirmedOperations.createTotp!, {
        body: password,
      });
    for (const [name, path] of Object.entries(confirmedOperations))
      await expectProblem(browser, name, signIn.limited, path, { body: password });
    await expectProblem(browser, 'confirmTotp', signIn.limited, '/api/session/totp/confirm', {
      body: { otp: '000000' },
    });
    const { id, accessKey: credential } = await addPerson(app, { user_permissions: { users: 'write' } });
    const asked = { body: user({ user_permissions: { users: 'write' }, current_password: 'wrong' }), credential };
    for (let attempt = 0; attempt < 3; attempt++)
      await expectProblem(app, 'updateUser', signIn.reauthentication_failed, `/api/users/${id}`, asked);
    await expectProblem(app, 'updateUser', signIn.limited, `/api/users/${id}`, asked);
  });

  test('a change by a user with a second factor requires its code', async () => {
    const person = await addPerson(app);
    const { password } = person;
    const browser = await signInAs(person);
    const { body } = await browser.ask('POST', '/api/session/totp', { body: { password } });
    const otp = computeTotp(body.secret, toTotpStep(Date.now()));
    const confirmed = await browser.ask('POST', '/api/session/totp/confirm', { body: { otp } });
    assert.equal(confirmed.status, 200, confirmed.text);
    const { reauthentication_code_required } = signIn;
    for (const [name, path] of Object.entries(confirmedOperations))
      await expectProblem(browser, name, reauthentication_code_required, path, { body: { password } });
    const reset = { body: { current_password: password, new_password: `${password} 2` } };
    const path = `/api/users/${person.id}/actions/reset`;
    await expectProblem(browser, 'resetPassword', reauthentication_code_required, path, reset);
  });

  test('a user without an account has no factors', async () => {
    const body = { ForSection: 'dashboard', OrgID: app.credentials.organisation_id, EmailAddress: newEmail() };
    const { Meta: nonce } = await ok('POST', '/admin/sso', body);
    const response = await fetch(`${app.url.dashboard}/tap?nonce=${nonce}`, { redirect: 'manual' });
    assert.equal(response.status, 303, await response.text());
    const browser = openBrowser(app);
    browser.cookie = response.headers.getSetCookie()[0]!.split(';')[0]!;
    browser.csrfToken = (await browser.ask('GET', '/api/session')).body.csrf_token;
    for (const [name, path] of Object.entries(confirmedOperations))
      await expectProblem(browser, name, problem.user_not_found, path, { body: { password: 'p' } });
    const otp = { body: { otp: '000000' } };
    await expectProblem(browser, 'confirmTotp', problem.user_not_found, '/api/session/totp/confirm', otp);
    const options = { challenge: 'aa', user: { id: 'aa' }, rp: { id: new URL(dashboardUrl).hostname } };
    const credential = createAuthenticator(dashboardUrl).create(options);
    const asked = { body: { name: 'n', credential } };
    await expectProblem(browser, 'addPasskey', problem.user_not_found, '/api/session/passkeys', asked);
  });
});
