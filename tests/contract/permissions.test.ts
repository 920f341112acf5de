import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { eventStreamType } from '#operations/event-streams.ts';
import { listPermissions } from '#operations/operation.ts';
import { problem as refusal } from '#operations/problems.ts';
import { administratorPermissions, permissionTable } from '#people/permissions/table.ts';
import { catalogue } from '../../src/catalogue.ts';
import { type Answer, onEveryEngine, type TestApp } from '../support/app.ts';

/** Permission checks of every dashboard operation, at every level. */

type Each = (typeof catalogue)[number];
type Permissions = Readonly<Record<string, string>>;

const ordinary = Object.keys(permissionTable).filter(name => !administratorPermissions.includes(name));
/** Everything but administration, each at its highest level. */
const highest = (name: string) => permissionTable[name]!.levels.at(-1)!;
const allHighest: Permissions = Object.fromEntries(ordinary.map(name => [name, highest(name)]));
const own = (catalogue as readonly Each[]).filter(it => it.surface === 'dashboard' && it.permission !== 'public');

/** A body that no operation accepts: the permission is checked before it is read. */
const send = (app: TestApp, it: Each, credential: string): Promise<Answer> => {
  const path = it.path.replaceAll(/\{[\w-]+\}/g, 'nothing-is-called-this');
  const type = typeof it.accepts === 'object' ? it.accepts.only[0]! : 'application/json';
  const body = it.body ? { body: '{', headers: { 'content-type': type } } : {};
  return app.ask(it.method, path, { credential, ...body });
};

/** Operations whose body is JSON, so that the body of `send` is malformed. */
const takesJson = (it: Each) => it.body !== undefined && (it.accepts ?? 'json') === 'json';

/** Streams end when their client leaves: their own tests accept them. */
const isStream = (it: Each) => it.produces === eventStreamType;

const users = new WeakMap<TestApp, Map<string, Promise<string>>>();

/** Access key of an active user with these permissions. */
function userWith(app: TestApp, permissions: Permissions, active = true): Promise<string> {
  const known = users.get(app) ?? new Map<string, Promise<string>>();
  users.set(app, known);
  const key = JSON.stringify([permissions, active]);
  const made = known.get(key) ?? createUser(app, permissions, active);
  known.set(key, made);
  return made;
}

async function createUser(app: TestApp, user_permissions: Permissions, active: boolean): Promise<string> {
  const name = { first_name: 'A', last_name: 'B', email_address: `${createPublicId()}@example.org` };
  const { status, body, text } = await app.ask('POST', '/admin/users', { body: { ...name, active, user_permissions } });
  assert.equal(status, 200, text);
  return body.Message;
}

const isRefused = ({ status, text }: Answer) => status === 403 && /access denied: you need /.test(text);
const without = (name: string): Permissions =>
  Object.fromEntries(Object.entries(allHighest).filter(([each]) => each !== name));

onEveryEngine('Permissions', app => {
  for (const it of own) {
    describe(it.name, () => {
      const [name = '', level = ''] = it.permission.split(':');
      const [further, furtherLevel = ''] = it.furtherPermission?.split(':') ?? [];
      const beside: Permissions = further === undefined ? {} : { [further]: furtherLevel };
      const refuses = async (permissions: Permissions) => {
        const answer = await send(app(), it, await userWith(app(), permissions));
        assert.ok(isRefused(answer), `${JSON.stringify(permissions)}: ${answer.status} ${answer.text}`);
      };
      /** A request with the permission gets past the check: to its parameters, its body or its result. */
      const accepts = async (permissions: Permissions) => {
        const answer = await send(app(), it, await userWith(app(), permissions));
        const description = `${JSON.stringify(permissions)}: ${answer.status} ${answer.text}`;
        assert.ok(!isRefused(answer) && answer.status !== 401 && answer.status < 500, description);
        if (takesJson(it)) assert.equal(answer.status, 400, description);
      };
      const testAccepted = (title: string, permissions: Permissions) => {
        if (!isStream(it)) test(title, () => accepts(permissions));
      };

      test('refuses an inactive administrator', async () => {
        const { status } = await send(app(), it, await userWith(app(), { IsAdmin: 'admin' }, false));
        assert.ok(status === 401 || status === 403, String(status));
      });
      // The operation itself checks a further permission: for records of others, or ResetPassword.
      const checksItself = it.problems?.some(({ code }) => code === refusal.not_permitted.code);
      if (it.permission === 'any user') {
        if (!checksItself) testAccepted('accepts a user with any permission', { portal: 'read' });
      } else if (it.permission === 'admin') {
        test('refuses a user with every permission who is not an administrator', () => refuses(allHighest));
        testAccepted('accepts an administrator', {
          IsAdmin: 'admin',
          ...(checksItself ? { ResetPassword: 'admin' } : {}),
        });
      } else {
        test(`refuses a user with every permission but ${name}`, () => refuses(without(name)));
        test(`refuses a user with ${name}: deny`, () => refuses({ ...without(name), [name]: 'deny' }));
        test(`refuses an administrator with ${name}: deny`, () => refuses({ IsAdmin: 'admin', [name]: 'deny' }));
        testAccepted(`accepts a user with ${listPermissions(it).join(' and ')} alone`, { ...beside, [name]: level });
        if (further !== undefined)
          test(`refuses a user with every permission but ${further}`, () => refuses(without(further)));
        if (level === 'write')
          test(`refuses a user with ${name}: read`, () => refuses({ ...without(name), [name]: 'read' }));
        else testAccepted(`accepts a user with ${name}: ${highest(name)}`, { ...beside, [name]: highest(name) });
      }
    });
  }
});
