import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { z } from 'zod';
import { isMutation } from '#operations/operation.ts';
import { surfaces } from '#operations/surfaces.ts';
import { administratorPermissions, permissionTable } from '#people/permissions/table.ts';
import { catalogue } from '../../src/catalogue.ts';
import { type Answer, type Asked, onEveryEngine, type TestApp } from '../support/app.ts';

/** What every operation promises because it is an operation. A newcomer to the list is tested the day it arrives. */

type Each = (typeof catalogue)[number];

const accepts = (it: Each) => it.accepts ?? 'json';
const takesJson = (it: Each) =>
  it.body !== undefined && (accepts(it) === 'json' || accepts(it) === 'document' || typeof accepts(it) === 'object');
const pathFor = (it: Each, id: string) => it.path.replaceAll(/\{[\w-]+\}/g, encodeURIComponent(id));
const contentType = (it: Each): Record<string, string> => {
  const kind = accepts(it);
  return typeof kind === 'object' ? { 'content-type': kind.only[0]! } : { 'content-type': 'application/json' };
};
const ask = (app: TestApp, it: Each, asked: Asked = {}, id = 'nothing-is-called-this') =>
  app.ask(it.method, pathFor(it, id), { ...asked, headers: { ...contentType(it), ...asked.headers } });

const listRequired = (shape: z.ZodType | undefined): string[] =>
  Object.entries((shape as z.ZodObject | undefined)?.shape ?? {}).flatMap(([name, rule]) =>
    (rule as z.ZodType).safeParse(undefined).success ? [] : [name],
  );

function assertRefusal(it: Each, answer: Answer, status: number) {
  assert.equal(answer.status, status, `${it.name}: ${answer.text}`);
  const words = it.surface === 'portal' ? answer.body.errors : [answer.body.Message ?? answer.body.message];
  assert.ok(
    Array.isArray(words) && words.length > 0 && words.every((word: unknown) => typeof word === 'string' && word !== ''),
  );
}

/** Operations before a sign-in: the reviewed list. Each bounds its callers itself. */
const publicOperations = [
  'signIn',
  'forgetPassword',
  'resetForgottenPassword',
  'startPasskeySignIn',
  'signInWithPasskey',
  'getSignInOptions',
];

const maxBodyBytes = 1_100_000;
const maxBulkBytes = 1_200_000;

onEveryEngine(
  'Every operation',
  (app, engine) => {
    test('only the reviewed operations are public, and they accept no body that a form of another site can send', () => {
      const found = (catalogue as readonly Each[]).filter(it => it.permission === 'public');
      assert.deepEqual(found.map(it => it.name).sort(), [...publicOperations].sort());
      for (const it of found)
        assert.deepEqual([it.surface, accepts(it)], ['dashboard', { only: ['application/json'] }]);
    });

    for (const it of catalogue as readonly Each[]) {
      const surface = surfaces[it.surface];
      const isPublic = it.permission === 'public';
      describe(it.name, () => {
        if (isPublic)
          test('responds to a caller without a credential as to one with a wrong or a right credential', async () => {
            for (const credential of [null, 'wrong', undefined]) {
              const answer = await ask(app(), it, {
                ...(credential !== undefined && { credential }),
                ...(it.method !== 'GET' && { body: {} }),
              });
              assert.ok(answer.status < 500 && !/Not authorised/.test(answer.text), `${it.name}: ${answer.text}`);
            }
          });
        else
          test('refuses a caller without or with a wrong credential, before it reads the body', async () => {
            assertRefusal(it, await ask(app(), it, { credential: null }), surface.unauthorizedStatus);
            assertRefusal(it, await ask(app(), it, { credential: 'wrong' }), surface.unauthorizedStatus);
            if (isMutation(it)) {
              const malformed = await ask(app(), it, { credential: 'wrong', body: '{' });
              assertRefusal(it, malformed, surface.unauthorizedStatus);
            }
          });

        if (it.surface === 'dashboard' && it.permission !== 'any user' && !isPublic) {
          test(`refuses a user who lacks ${it.permission}`, async () => {
            assertRefusal(it, await ask(app(), it, { credential: await userWithout(app(), it.permission) }), 403);
          });
        }

        if (it.path.includes('{')) {
          test('answers an unknown id, or one with SQL syntax, with a clear 4xx', async () => {
            for (const id of [
              'nothing-is-called-this',
              "x' or '1'='1",
              '%',
              '..',
              '../../etc/passwd',
              'é',
              '\u0000',
              '9'.repeat(400),
            ]) {
              const answer = await ask(app(), it, takesJson(it) ? { body: {} } : {}, id);
              assert.ok(answer.status < 500, `${it.name} ${id}: ${answer.text}`);
            }
          });
        }

        // Bodies are read before any storage: one engine shows it.
        if (takesJson(it) && engine === 'sqlite') {
          test('refuses malformed, empty, foreign and oversized bodies', async () => {
            for (const body of [
              '',
              '   ',
              '{',
              '{"a":}',
              'null',
              '"text"',
              '[]x',
              '{"__proto__":{"a":1}}',
              `"${'\\u0000'}"`,
              '['.repeat(5000),
            ]) {
              const answer = await ask(app(), it, { body });
              assertRefusal(
                it,
                answer,
                body.trim() === 'null' || body === '"text"' ? answer.status : surface.invalidStatus,
              );
              assert.ok(answer.status >= 400 && answer.status < 500, `${it.name} ${body.slice(0, 20)}: ${answer.text}`);
            }
            const tooLong = it.isBulk ? maxBulkBytes : maxBodyBytes;
            assertRefusal(it, await ask(app(), it, { body: `"${'x'.repeat(tooLong)}"` }), 413);
          });

          test('refuses an object with two members of one name, with the path of the second', async () => {
            const answer = await ask(app(), it, { body: '{"a":{"b":[1,{"c":1,"\\u0063":2}]}}' });
            assertRefusal(it, answer, surface.invalidStatus);
            assert.match(answer.text, /duplicate member a\.b\[1\]\.c/);
          });
        }

        if (takesJson(it)) {
          test('answers any JSON at all with success or a clear 4xx', async () => {
            await fc.assert(
              fc.asyncProperty(fc.jsonValue({ maxDepth: 3 }), async value => {
                const answer = await ask(app(), it, { body: JSON.stringify(value) });
                assert.ok(answer.status < 500, `${it.name}: ${answer.text}`);
              }),
              { numRuns: 15 },
            );
          });
        }

        if (listRequired(it.query).length > 0) {
          test('names missing query parameters with their meaning', async () => {
            const answer = await ask(app(), it, takesJson(it) ? { body: {} } : {});
            assertRefusal(it, answer, surface.invalidStatus);
            for (const name of listRequired(it.query)) assert.match(answer.text, new RegExp(`${name}: is required`));
            assert.doesNotMatch(answer.text, /NaN|undefined/);
          });
        }

        test('is in the OpenAPI document of its surface', async () => {
          const { openapi, paths } = await readDocument(app(), surface.prefix);
          assert.equal(openapi, '3.1.0');
          assert.equal(paths[it.path][it.method.toLowerCase()].operationId, it.name);
        });

        if (isMutation(it) && !isPublic) {
          test('writes an audit record with action, user, address and result', async () => {
            const answer = await ask(app(), it, takesJson(it) ? { body: '{' } : {});
            const last = await lastAudit(app());
            assert.equal(last.action, it.name);
            assert.equal(last.status, answer.status);
            assert.equal(last.method, it.method);
            assert.equal(last.ip, '127.0.0.1');
            assert.ok(last.actor !== '' && last.at > 0);
          });
        }
      });
    }

    test('an unknown path of a surface requires the credential before it gets 404', async () => {
      for (const name of Object.keys(surfaces) as (keyof typeof surfaces)[]) {
        const path = `${surfaces[name].prefix}/no/such/thing`;
        assert.equal((await app().ask('GET', path, { credential: null })).status, surfaces[name].unauthorizedStatus);
        assert.equal((await app().ask('GET', path)).status, 404);
      }
    });

    test('a known path with another method gets 405 with Allow', async () => {
      const answer = await app().ask('PATCH', '/api/users/search');
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.get('allow'), 'DELETE, GET, POST, PUT');
      assert.equal((await app().ask('PATCH', '/api/users/search', { credential: null })).headers.get('allow'), null);
    });

    test('an invalid path is refused in the error format of its surface', async () => {
      for (const name of Object.keys(surfaces) as (keyof typeof surfaces)[]) {
        const answer = await app().ask('GET', `${surfaces[name].prefix}/%zz`);
        assert.equal(answer.status, 400);
        const message = 'The path is not a well-formed URL';
        assert.deepEqual(answer.body, surfaces[name].render(message));
        assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      }
    });

    test('a body with too many values is refused before validation', async () => {
      const tags = `[${'1,'.repeat(500_000)}1]`;
      const answer = await app().ask('POST', '/api/keys', { body: `{"tags":${tags}}` });
      assert.equal(answer.status, 400);
      assert.match(answer.body.Message, /more than \d+ values/);
    });

    test('every path is served with and without a trailing slash', async () => {
      assert.equal((await app().ask('GET', '/api/users/')).status, 200);
      assert.equal((await app().ask('GET', '/admin/organisations/')).status, 200);
    });

    test('a path parameter of 1,024 characters reaches its operation, and a longer one is refused', async () => {
      const read = async (length: number) => (await app().ask('GET', `/api/keys/${'k'.repeat(length)}`)).status;
      assert.deepEqual([await read(1024), await read(1025)], [404, 400]);
    });

    test('the OpenAPI documents declare the response to a missing credential at every operation', async () => {
      for (const it of (catalogue as readonly Each[]).filter(each => each.permission !== 'public')) {
        const { unauthorizedStatus, prefix } = surfaces[it.surface];
        const { paths } = await readDocument(app(), prefix);
        const { responses } = paths[it.path][it.method.toLowerCase()];
        assert.match(responses[unauthorizedStatus]?.description ?? '', /^Missing or wrong credential$/, it.name);
      }
    });

    test('each listener serves /hello, /live, /ready and its documentation as HTML and JSON', async () => {
      for (const [name, url] of Object.entries(app().url)) {
        for (const path of ['/hello', '/live', '/ready']) assert.equal((await fetch(url + path)).status, 200);
        if (name === 'gateway') continue;
        const page = await fetch(`${url}/docs`);
        assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
        assert.match(await page.text(), /<ul class="operations"><li><a href="\/docs\/\w+">/);
        assert.equal(((await (await fetch(`${url}/openapi.json`)).json()) as { openapi: string }).openapi, '3.1.0');
      }
    });

    test('the traffic port serves no management path', async () => {
      for (const path of ['/api/users', '/admin/users', '/gw/reload', '/portal-api/apps', '/docs', '/openapi.json']) {
        assert.equal((await fetch(app().url.gateway + path)).status, 404);
      }
    });
  },
  {
    settings: {
      'management.max_body_bytes': String(maxBodyBytes),
      'management.max_bulk_body_bytes': String(maxBulkBytes),
    },
  },
);

const documents = new WeakMap<TestApp, Map<string, Promise<Answer>>>();

/** The OpenAPI document of a surface, read once: it has megabytes, and every operation is looked up in it. */
async function readDocument(app: TestApp, prefix: string): Promise<Answer['body']> {
  const ofApp = documents.getOrInsertComputed(app, () => new Map());
  const read = () => app.ask('GET', `${prefix}/openapi.json`, { credential: null });
  return (await ofApp.getOrInsertComputed(prefix, read)).body;
}

async function lastAudit(app: TestApp) {
  const { records } = app.application.installation;
  return records.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow();
}

const unprivileged = new WeakMap<TestApp, Promise<string>>();

/** An active user with one permission that no operation requires. */
function userWithout(app: TestApp, _permission: string): Promise<string> {
  const made = unprivileged.get(app) ?? makeUnprivileged(app);
  unprivileged.set(app, made);
  return made;
}

async function makeUnprivileged(app: TestApp): Promise<string> {
  const isAskedFor = (name: string) => catalogue.some(it => it.permission.startsWith(`${name}:`));
  const unused = Object.keys(permissionTable).find(
    name => !administratorPermissions.includes(name) && !isAskedFor(name),
  );
  assert.ok(unused);
  const body = {
    email_address: 'nobody@example.org',
    first_name: 'N',
    last_name: 'O',
    active: true,
    user_permissions: { [unused]: 'write' },
  };
  return (await app.ask('POST', '/admin/users', { body })).body.Message;
}
