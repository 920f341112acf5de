import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { problem as people } from '#people/problems.ts';
import { problem } from '../../src/apis/problems.ts';
import { type Answer, type Asked, onEveryEngine, type TestApp } from '../support/app.ts';
import { expectProblem } from './expect-problem.ts';

/** Problems of an API that was allowed when it was stored, and is not when it is activated or restored. */

const maxRoutesCompared = 5;
const newPath = () => `/${createPublicId()}/`;
const definition = (more: { path?: string; name?: string; domain?: string; target?: string } = {}) => ({
  name: more.name ?? `A ${createPublicId()}`,
  active: false,
  use_keyless: true,
  ...(more.domain === undefined ? {} : { domain: more.domain }),
  proxy: { listen_path: more.path ?? newPath(), target_url: more.target ?? 'http://127.0.0.1:9/' },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
});

async function expectOk(app: TestApp, method: string, path: string, asked: Asked): Promise<Answer['body']> {
  const { status, text, body } = await app.ask(method, path, asked);
  assert.ok(status < 300, `${method} ${path}: ${text}`);
  return body;
}
const createApi = async (app: TestApp, api_definition: object, more: Asked & { owners?: string[] } = {}) => {
  const { owners, ...asked } = more;
  const body = { api_definition, ...(owners ? { user_owners: owners } : {}) };
  return (await expectOk(app, 'POST', '/api/apis', { ...asked, body })).ID as string;
};

interface Users {
  readonly administratorId: string;
  /** User of the same organisation, to whom APIs with owners are hidden. */
  readonly lesser: string;
}

interface Prepared {
  readonly definition: ReturnType<typeof definition>;
  /** Creates the API; the administrator by default. */
  readonly creator?: string;
  /** Activates or restores it; the administrator by default. */
  readonly caller?: string;
  /** Makes the stored API one that is refused, after it was created, and changed or removed for a restore. */
  forbid(apiId: string): Promise<unknown>;
}

interface Scenario {
  readonly isRestoreOnly?: true;
  /** A restore creates the API: it was removed, not changed. */
  readonly isRemoved?: true;
  prepare(app: TestApp, users: Users): Promise<Prepared>;
}

const grant = (app: TestApp, orgId: string, body: object) =>
  expectOk(app, 'PUT', `/admin/organisations/${orgId}/grants`, { body });

const scenarios: Readonly<Record<string, Scenario>> = {
  [problem.route_taken.code]: {
    async prepare(app, { administratorId, lesser }) {
      const path = newPath();
      return {
        definition: definition({ path: `${path}below/` }),
        caller: lesser,
        forbid: () => createApi(app, definition({ path }), { owners: [administratorId] }),
      };
    },
  },
  [problem.too_many_routes.code]: {
    async prepare(app) {
      const { accessKey } = await app.stranger();
      const path = newPath();
      return {
        definition: definition({ path }),
        creator: accessKey,
        caller: accessKey,
        async forbid() {
          const { db } = app.application.installation.records;
          for (let index = 0; index <= maxRoutesCompared; index++) {
            const id = await createApi(app, definition());
            const listen_path = `${path}${index}`;
            await db.updateTable('apis').set({ listen_path }).where('api_id', '=', id).execute();
          }
        },
      };
    },
  },
  [problem.domain_not_granted.code]: {
    async prepare(app) {
      const { orgId, accessKey } = await app.stranger();
      const domain = `${createPublicId().toLowerCase()}.example`;
      await grant(app, orgId, { domains: [domain] });
      const forbid = () => grant(app, orgId, { domains: [] });
      return { definition: definition({ domain }), creator: accessKey, caller: accessKey, forbid };
    },
  },
  [problem.path_not_granted.code]: {
    async prepare(app) {
      const { orgId, accessKey } = await app.stranger();
      const forbid = () => grant(app, orgId, { paths: ['/granted/'] });
      return { definition: definition(), creator: accessKey, caller: accessKey, forbid };
    },
  },
  [problem.reference_not_owned.code]: {
    async prepare(app, { administratorId, lesser }) {
      const referenced = await createApi(app, definition());
      const body = { userIds: [administratorId] };
      return {
        definition: definition({ target: `gw://${referenced}/` }),
        caller: lesser,
        forbid: () => expectOk(app, 'PUT', `/api/apis/${referenced}/access`, { body }),
      };
    },
  },
  [problem.reference_open.code]: {
    async prepare(app, { administratorId, lesser }) {
      return {
        definition: definition({ target: 'gw://$gw_context.path/' }),
        caller: lesser,
        forbid: () => createApi(app, definition(), { owners: [administratorId] }),
      };
    },
  },
  [problem.name_taken.code]: {
    isRestoreOnly: true,
    async prepare(app, { administratorId, lesser }) {
      const name = `N ${createPublicId()}`;
      const forbid = () => createApi(app, definition({ name }), { owners: [administratorId] });
      return { definition: definition({ name }), caller: lesser, forbid };
    },
  },
  [problem.path_exists.code]: {
    isRestoreOnly: true,
    async prepare(app) {
      const path = newPath();
      return { definition: definition({ path }), forbid: () => createApi(app, definition({ path })) };
    },
  },
  [problem.id_exists.code]: {
    isRestoreOnly: true,
    isRemoved: true,
    async prepare(app) {
      const { accessKey: credential } = await app.stranger();
      const forbid = (api_id: string) => createApi(app, { ...definition(), api_id }, { credential });
      return { definition: definition(), forbid };
    },
  },
  [people.limit_reached.code]: {
    isRestoreOnly: true,
    isRemoved: true,
    async prepare(app) {
      const { orgId, accessKey } = await app.stranger();
      const forbid = () => grant(app, orgId, { max_apis: 0 });
      return { definition: definition(), creator: accessKey, caller: accessKey, forbid };
    },
  },
};

const problemOf = (code: string) => [...Object.values(problem), people.limit_reached].find(it => it.code === code)!;
const asCaller = (credential: string | undefined): Asked => (credential === undefined ? {} : { credential });

onEveryEngine(
  'Problems of a stored API',
  app => {
    let users: Users;
    before(async () => {
      const { id: administratorId } = (await app().ask('GET', '/api/users/me')).body;
      const user = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', active: true };
      const { Message: lesser } = await expectOk(app(), 'POST', '/admin/users', {
        body: { ...user, user_permissions: { apis: 'write' } },
      });
      users = { administratorId, lesser };
    });

    describe('activateApi', () => {
      for (const [code, { isRestoreOnly, prepare }] of Object.entries(scenarios))
        if (!isRestoreOnly)
          test(`refuses with ${code}`, async () => {
            const prepared = await prepare(app(), users);
            const id = await createApi(app(), prepared.definition, asCaller(prepared.creator));
            await prepared.forbid(id);
            const path = `/api/apis/${id}/actions/activate`;
            await expectProblem(app(), 'activateApi', problemOf(code), path, asCaller(prepared.caller));
          });
    });

    describe('restoreApiRevision', () => {
      for (const [code, { isRemoved, prepare }] of Object.entries(scenarios))
        test(`refuses with ${code}`, async () => {
          const prepared = await prepare(app(), users);
          const asCreator = asCaller(prepared.creator);
          const id = await createApi(app(), prepared.definition, asCreator);
          const body = { api_definition: { ...definition(), api_id: id } };
          if (isRemoved) await expectOk(app(), 'DELETE', `/api/apis/${id}`, asCreator);
          else await expectOk(app(), 'PUT', `/api/apis/${id}`, { ...asCreator, body });
          await prepared.forbid(id);
          const path = `/api/revisions/apis/${id}/1/restore`;
          await expectProblem(app(), 'restoreApiRevision', problemOf(code), path, asCaller(prepared.caller));
        });
    });
  },
  { settings: { 'apis.max_routes_compared': String(maxRoutesCompared) } },
);
