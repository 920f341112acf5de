import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import { onEveryEngine, startApp } from '../../../tests/support/app.ts';
import { matchesNamePattern, readTenantDefaults } from './grants.ts';

const builtIn = {
  domains: [],
  paths: [],
  secrets: [],
  networks: ['public'],
  max_apis: null,
  max_keys: null,
  max_policies: null,
  max_hooks: null,
  rate: null,
  per: 1,
};

onEveryEngine(
  'grants of organisations',
  app => {
    const ask = (method: string, orgId: string, body?: unknown, credential?: string) =>
      app().ask(method, `/admin/organisations/${orgId}/grants`, {
        ...(body === undefined ? {} : { body }),
        ...(credential === undefined ? {} : { credential }),
      });

    test('a new organisation has the tenant defaults', async () => {
      const { orgId } = await app().stranger();
      assert.deepEqual((await ask('GET', orgId)).body, builtIn);
    });

    test('grants are read back normalised, and omitted members follow the defaults', async () => {
      const { orgId } = await app().stranger();
      const granted = {
        domains: ['API.Example.org.', '*.b.example'],
        paths: ['//b/'],
        networks: ['private', '10.0.0.0/8'],
      };
      const written = await ask('PUT', orgId, { ...granted, secrets: ['b_*'], max_apis: 3 });
      assert.deepEqual([written.status, written.body.Message], [200, 'Grants updated']);
      assert.deepEqual((await ask('GET', orgId)).body, {
        ...builtIn,
        domains: ['api.example.org', '*.b.example'],
        paths: ['/b/'],
        secrets: ['b_*'],
        networks: ['private', '10.0.0.0/8'],
        max_apis: 3,
      });
      assert.equal((await ask('PUT', orgId, {})).status, 200);
      assert.deepEqual((await ask('GET', orgId)).body, builtIn);
    });

    test('an invalid grant is rejected with its path, and changes nothing', async () => {
      const { orgId } = await app().stranger();
      await ask('PUT', orgId, { max_keys: 7 });
      for (const [body, place] of [
        [{ domain: ['a.example'] }, /domain/],
        [{ domains: ['a.*.example'] }, /domains\[0\]/],
        [{ domains: ['{h:.*}'] }, /domains\[0\]/],
        [{ domains: ['a.example:80'] }, /domains\[0\]/],
        [{ paths: ['b'] }, /paths\[0\]/],
        [{ paths: ['/{x}/'] }, /paths\[0\]/],
        [{ secrets: [''] }, /secrets\[0\]/],
        [{ networks: ['link-local'] }, /networks\[0\]/],
        [{ networks: ['10.0.0.0/33'] }, /networks\[0\]/],
        [{ max_apis: -1 }, /max_apis/],
        [{ max_hooks: 1.5 }, /max_hooks/],
        [{ rate: 0 }, /rate/],
        [{ rate: 'many' }, /rate/],
        [{ rate: 1, per: 0 }, /per/],
        [{ rate: 1, per: 1.5 }, /per/],
        [{ paths: Array.from({ length: 1001 }, () => '/b/') }, /paths/],
      ] as const) {
        const answer = await ask('PUT', orgId, body);
        assert.equal(answer.status, 400, answer.text);
        assert.match(answer.body.Message, place);
      }
      assert.equal((await ask('GET', orgId)).body.max_keys, 7);
    });

    test('only the operator reads and writes grants, and cannot write those of its own organisation', async () => {
      const { orgId, accessKey } = await app().stranger();
      for (const method of ['GET', 'PUT'])
        assert.equal((await ask(method, orgId, method === 'PUT' ? {} : undefined, accessKey)).status, 401);
      const own = app().credentials.organisation_id;
      assert.deepEqual((await ask('GET', own)).body, {
        ...builtIn,
        domains: ['*'],
        paths: ['/'],
        secrets: ['*'],
        networks: ['public', 'private', 'loopback'],
      });
      assert.equal((await ask('PUT', own, {})).status, 409);
      assert.equal((await ask('GET', 'nothing')).status, 404);
      assert.equal((await ask('PUT', 'nothing', {})).status, 404);
    });

    test('an organisation recreated under the same id does not inherit the old grants', async () => {
      const body = { id: 'again', owner_name: 'Again' };
      await app().ask('POST', '/admin/organisations/import', { body });
      await ask('PUT', 'again', { max_apis: 1 });
      assert.equal((await app().ask('DELETE', '/admin/organisations/again')).status, 200);
      await app().ask('POST', '/admin/organisations/import', { body });
      assert.deepEqual((await ask('GET', 'again')).body, builtIn);
    });
  },
  { settings: { 'tenants.grants': '{}' } },
);

describe('tenants.grants', () => {
  test('the setting is the default of tenants, and grants of an organisation override it', async () => {
    const defaults = JSON.stringify({ networks: ['public', 'private'], max_apis: 5 });
    const app = await startApp('sqlite', { settings: { 'tenants.grants': defaults } });
    try {
      const { orgId } = await app.stranger();
      const place = `/admin/organisations/${orgId}/grants`;
      assert.deepEqual((await app.ask('GET', place)).body, {
        ...builtIn,
        networks: ['public', 'private'],
        max_apis: 5,
      });
      await app.ask('PUT', place, { body: { max_apis: null } });
      assert.equal((await app.ask('GET', place)).body.max_apis, null);
    } finally {
      await app.close();
    }
  });

  test('an invalid value aborts the start with its path', () => {
    const settings = readSettings({ flags: { 'tenants.grants': '{"networks":["all"],"beyond":1}' } });
    assert.throws(() => readTenantDefaults(settings), /tenants\.grants: .*networks\[0\]: must be public/);
    assert.throws(() => readTenantDefaults(settings), /beyond/);
    assert.throws(() => readSettings({ flags: { 'tenants.grants': '[]' } }), /must be values by name/);
  });
});

test('* in a name pattern matches any characters, also none', () => {
  const fits = (pattern: string, ...names: string[]) => names.map(name => matchesNamePattern(pattern, name));
  assert.deepEqual(fits('acme_*', 'acme_db', 'acme_', 'acme', 'xacme_'), [true, true, false, false]);
  assert.deepEqual(fits('*', '', 'x'), [true, true]);
  assert.deepEqual(fits('a*b*a', 'aba', 'axbya', 'aa', 'ab'), [true, true, false, false]);
  assert.deepEqual(fits('aa*aa', 'aaa', 'aaaa'), [false, true]);
  assert.deepEqual(fits('*b*', 'bc', 'ab', 'ac'), [true, true, false]);
  assert.deepEqual(fits('plain', 'plain', 'plain2'), [true, false]);
});
