import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problem as certificates } from '#access/certificates/problems.ts';
import { problem as policies } from '#access/policies/problems.ts';
import { createPublicId } from '#base/ids.ts';
import type { ProblemFactory } from '#base/problems.ts';
import { problem as hooks } from '#events/hooks/problems.ts';
import { problem } from '#operations/problems.ts';
import { problem as people } from '#people/problems.ts';
import { problem as signOn } from '#people/single-sign-on/problems.ts';
import { type Answer, onEveryEngine, type TestApp } from '../support/app.ts';
import { addPerson } from '../support/browser.ts';
import { makeAuthority } from '../support/certificates.ts';
import { expectProblem } from './expect-problem.ts';

/** Problems of revisions: of unknown ones, and of states that may not be restored. */

async function ok(app: TestApp, method: string, path: string, body?: unknown, credential?: string) {
  const answer = await app.ask(method, path, { body, ...(credential === undefined ? {} : { credential }) });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body as Answer['body'];
}

const uploadCertificate = (app: TestApp, pem: string) => {
  const form = new FormData();
  form.set('file', new Blob([pem]), 'a.pem');
  return ok(app, 'POST', '/api/certs', form);
};
const hook = (webhook_id: string) => ({ webhook_id, method: 'POST', target_path: 'http://127.0.0.1:1/', name: 'h' });
const group = (user_permissions: object = { apis: 'read' }) => ({ name: 'g', user_permissions });
const user = (more: object = {}) => ({
  first_name: 'A',
  last_name: 'B',
  email_address: `${createPublicId()}@example.org`,
  active: true,
  user_permissions: { apis: 'read' },
  ...more,
});
const profile = (more: object = {}) => ({
  Name: 'Directory',
  ProviderName: 'ADProvider',
  ProviderConfig: { LDAPServer: '127.0.0.1', LDAPPort: '1', LDAPUserDN: 'uid=*USERNAME*,dc=example' },
  ...more,
});
const definition = () => ({
  name: `A ${createPublicId()}`,
  proxy: { listen_path: `/${createPublicId()}/`, target_url: 'http://127.0.0.1:1/' },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
});

/** How each kind of object is created; returns the id. */
const creates: Readonly<Record<string, { plural: string; create(app: TestApp): Promise<string> }>> = {
  Api: {
    plural: 'apis',
    create: async app => (await ok(app, 'POST', '/api/apis', { api_definition: definition() })).ID,
  },
  Policy: {
    plural: 'policies',
    create: async app => (await ok(app, 'POST', '/api/portal/policies', { name: createPublicId() })).Message,
  },
  Hook: { plural: 'hooks', create: async app => (await ok(app, 'POST', '/api/hooks', hook(createPublicId()))).ID },
  User: { plural: 'users', create: async app => (await ok(app, 'POST', '/api/users', user())).Meta },
  UserGroup: { plural: 'usergroups', create: async app => (await ok(app, 'POST', '/api/usergroups', group())).Meta },
  Certificate: {
    plural: 'certs',
    create: async app => (await uploadCertificate(app, makeAuthority(createPublicId()).certPem)).id,
  },
  Asset: {
    plural: 'assets',
    create: async app => (await ok(app, 'POST', '/api/assets', { name: 'A', data: {} })).Meta,
  },
  IdentityProfile: {
    plural: 'profiles',
    create: async app => (await ok(app, 'POST', '/api/sso/profiles', profile())).Meta,
  },
};

/** Paths of the objects of each kind. */
const paths: Readonly<Record<string, string>> = {
  Api: '/api/apis',
  Policy: '/api/portal/policies',
  Hook: '/api/hooks',
  User: '/api/users',
  UserGroup: '/api/usergroups',
  Certificate: '/api/certs',
  Asset: '/api/assets',
  IdentityProfile: '/api/sso/profiles',
};

/** A revision whose restore is refused. */
interface Refused {
  readonly id: string;
  /** The first one by default. */
  readonly revision?: number;
  readonly credential?: string;
}

interface Scenario {
  readonly kind: keyof typeof creates;
  readonly problem: ProblemFactory;
  prepare(app: TestApp): Promise<Refused>;
}

/** A user of the first state, changed to the second one. */
async function changeUser(app: TestApp, first: object, second: object): Promise<string> {
  const written = user(first);
  const { Meta: id } = await ok(app, 'POST', '/api/users', written);
  await ok(app, 'PUT', `/api/users/${id}`, { ...written, ...second });
  return id;
}
const addLesser = async (app: TestApp, user_permissions: object) =>
  (await addPerson(app, { user_permissions })).accessKey;
const setCustomPermissions = (app: TestApp, additional_permissions: object) =>
  ok(app, 'PUT', '/api/org/permissions', { additional_permissions });

let nowMs = Date.now();

const scenarios: readonly Scenario[] = [
  {
    kind: 'User',
    problem: people.email_exists,
    async prepare(app) {
      const email_address = `${createPublicId()}@example.org`;
      const id = await changeUser(app, { email_address }, { email_address: `${createPublicId()}@example.org` });
      await ok(app, 'POST', '/api/users', user({ email_address }));
      return { id };
    },
  },
  {
    kind: 'User',
    problem: people.email_owner_only,
    async prepare(app) {
      const id = await changeUser(app, {}, { email_address: `${createPublicId()}@example.org` });
      return { id, credential: await addLesser(app, { users: 'write', apis: 'write' }) };
    },
  },
  {
    kind: 'User',
    problem: people.user_outranks,
    async prepare(app) {
      const email_address = `${createPublicId()}@example.org`;
      const id = await changeUser(app, { user_permissions: { keys: 'write' } }, { email_address });
      return { id, credential: await addLesser(app, { IsAdmin: 'admin', keys: 'deny' }) };
    },
  },
  {
    kind: 'User',
    problem: people.only_admin_grants,
    async prepare(app) {
      const id = await changeUser(
        app,
        { user_permissions: { IsAdmin: 'admin' } },
        { user_permissions: { apis: 'read' } },
      );
      return { id, credential: await addLesser(app, { users: 'write', apis: 'write' }) };
    },
  },
  {
    kind: 'User',
    problem: people.permission_unknown,
    async prepare(app) {
      const name = `p${createPublicId()}`;
      await setCustomPermissions(app, { [name]: 'Title' });
      const id = await changeUser(
        app,
        { user_permissions: { [name]: 'read' } },
        { user_permissions: { apis: 'read' } },
      );
      await setCustomPermissions(app, {});
      return { id };
    },
  },
  {
    kind: 'User',
    problem: people.group_unknown,
    async prepare(app) {
      const { Meta: group_id } = await ok(app, 'POST', '/api/usergroups', group());
      const id = await changeUser(app, { group_id }, { group_id: '' });
      await ok(app, 'DELETE', `/api/usergroups/${group_id}`);
      return { id };
    },
  },
  {
    kind: 'User',
    problem: people.group_owns_hidden_apis,
    async prepare(app) {
      const { Meta: group_id } = await ok(app, 'POST', '/api/usergroups', group());
      await ok(app, 'POST', '/api/apis', { api_definition: definition(), user_group_owners: [group_id] });
      const id = await changeUser(app, { group_id }, { group_id: '' });
      return { id, credential: await addLesser(app, { users: 'write', apis: 'write' }) };
    },
  },
  {
    kind: 'User',
    problem: people.last_administrator,
    async prepare(app) {
      const { accessKey, userId } = await app.stranger();
      const written = user();
      const { Meta: id } = await ok(app, 'POST', '/api/users', written, accessKey);
      const user_permissions = { IsAdmin: 'admin' };
      await ok(app, 'PUT', `/api/users/${id}`, { ...written, user_permissions }, accessKey);
      const { access_key: credential } = (await app.ask('GET', `/admin/users/${id}`)).body;
      await ok(app, 'DELETE', `/api/users/${userId}`, undefined, credential);
      return { id, credential };
    },
  },
  {
    kind: 'UserGroup',
    problem: people.grant_not_held,
    async prepare(app) {
      const { Meta: id } = await ok(app, 'POST', '/api/usergroups', group({ keys: 'write' }));
      await ok(app, 'PUT', `/api/usergroups/${id}`, group());
      return { id, credential: await addLesser(app, { user_groups: 'write', apis: 'read' }) };
    },
  },
  {
    kind: 'UserGroup',
    problem: people.permission_unknown,
    async prepare(app) {
      const name = `p${createPublicId()}`;
      await setCustomPermissions(app, { [name]: 'Title' });
      const { Meta: id } = await ok(app, 'POST', '/api/usergroups', group({ [name]: 'read' }));
      await ok(app, 'PUT', `/api/usergroups/${id}`, group());
      await setCustomPermissions(app, {});
      return { id };
    },
  },
  {
    kind: 'IdentityProfile',
    problem: signOn.group_unknown,
    async prepare(app) {
      const { Meta: DefaultUserGroupID } = await ok(app, 'POST', '/api/usergroups', group());
      const { Meta: id } = await ok(app, 'POST', '/api/sso/profiles', profile({ DefaultUserGroupID }));
      await ok(app, 'PUT', `/api/sso/profiles/${id}`, profile());
      await ok(app, 'DELETE', `/api/usergroups/${DefaultUserGroupID}`);
      return { id };
    },
  },
  {
    kind: 'Hook',
    problem: hooks.id_taken,
    async prepare(app) {
      const webhook_id = createPublicId();
      const { ID: id } = await ok(app, 'POST', '/api/hooks', hook(webhook_id));
      await ok(app, 'PUT', `/api/hooks/${id}`, hook(createPublicId()));
      await ok(app, 'POST', '/api/hooks', hook(webhook_id));
      return { id };
    },
  },
  {
    kind: 'Policy',
    problem: policies.name_exists,
    async prepare(app) {
      const name = createPublicId();
      const { Message: id } = await ok(app, 'POST', '/api/portal/policies', { name });
      await ok(app, 'PUT', `/api/portal/policies/${id}`, { name: createPublicId() });
      await ok(app, 'POST', '/api/portal/policies', { name });
      return { id };
    },
  },
  {
    kind: 'Policy',
    problem: policies.id_exists,
    async prepare(app) {
      const id = createPublicId();
      await ok(app, 'POST', '/gw/policies', { id, name: createPublicId() });
      const { _id } = await ok(app, 'GET', `/api/portal/policies/${id}`);
      await ok(app, 'DELETE', `/api/portal/policies/${id}`);
      await ok(app, 'POST', '/gw/policies', { id, name: createPublicId() });
      return { id: _id };
    },
  },
  {
    kind: 'Certificate',
    problem: problem.revision_deleted,
    async prepare(app) {
      const id = await creates.Certificate!.create(app);
      await ok(app, 'DELETE', `/api/certs/${id}`);
      return { id, revision: 2 };
    },
  },
  {
    kind: 'Certificate',
    problem: certificates.expired,
    async prepare(app) {
      const dayMs = 86_400_000;
      const { certPem } = makeAuthority(createPublicId(), { notAfter: new Date(nowMs + dayMs) });
      const { id } = await uploadCertificate(app, certPem);
      await ok(app, 'DELETE', `/api/certs/${id}`);
      nowMs += 2 * dayMs;
      return { id };
    },
  },
];

onEveryEngine(
  'Problems of revisions',
  app => {
    for (const [kind, { plural, create }] of Object.entries(creates))
      describe(kind, () => {
        test('an unknown object and an unknown revision are refused by every operation', async () => {
          const path = `/api/revisions/${plural}/${await create(app())}`;
          await expectProblem(app(), `get${kind}Revision`, problem.revision_not_found, `${path}/999`);
          await expectProblem(app(), `restore${kind}Revision`, problem.revision_not_found, `${path}/999/restore`);
          const compare = 'compare?from=1&to=999';
          await expectProblem(app(), `compare${kind}Revisions`, problem.revision_not_found, `${path}/${compare}`);
          const { status } = await app().ask('GET', `/api/revisions/${plural}/unknown/${compare}`);
          assert.equal(status, 404);
        });

        test('an object is listed as deleted until it is restored', async () => {
          const id = await create(app());
          const list = async (): Promise<{ id: string; public_id: string; name: string; revision: number }[]> =>
            (await ok(app(), 'GET', `/api/revisions/${plural}?p=-1`)).deleted;
          const find = async () => (await list()).find(it => it.id === id || it.public_id === id);
          assert.equal(await find(), undefined);
          await ok(app(), 'DELETE', `${paths[kind]}/${id}`);
          const found = await find();
          assert.ok(found?.name, `${kind} has a name`);
          const stranger = await app().stranger();
          const foreign = await ok(app(), 'GET', `/api/revisions/${plural}?p=-1`, undefined, stranger.accessKey);
          assert.deepEqual(foreign.deleted, []);
          await ok(app(), 'POST', `/api/revisions/${plural}/${found.id}/${found.revision}/restore`);
          assert.equal(await find(), undefined);
        });

        for (const it of scenarios.filter(scenario => scenario.kind === kind))
          test(`a restore is refused with ${it.problem.code}`, async () => {
            const { id, revision = 1, credential } = await it.prepare(app());
            const path = `/api/revisions/${plural}/${id}/${revision}/restore`;
            const asked = credential === undefined ? {} : { credential };
            await expectProblem(app(), `restore${kind}Revision`, it.problem, path, asked);
          });
      });
  },
  { clock: { now: () => nowMs } },
);
