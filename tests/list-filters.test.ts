import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from './support/app.ts';
import { makeAuthority, makeCertificate } from './support/certificates.ts';

/** Filters of dashboard lists that the database evaluates. */
onEveryEngine('Filters of lists', app => {
  const open = async () => {
    const { accessKey: credential, orgId } = await app().stranger();
    const ok = async (method: string, path: string, body?: unknown) => {
      const answer = await app().ask(method, path, { credential, ...(body === undefined ? {} : { body }) });
      assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
      return answer.body;
    };
    return { ok, orgId };
  };

  test('certificates are found by subject and id, by state and by the end of validity', async () => {
    const { ok } = await open();
    const one = (await ok('POST', '/api/certs', makeAuthority('Orders Ltd').certPem)).id as string;
    const two = (await ok('POST', '/api/certs', makeAuthority('Billing').certPem)).id as string;
    const find = async (query: string) => (await ok('GET', `/api/certs?${query}`)).certs as string[];
    assert.deepEqual(await find(''), [two, one]);
    assert.deepEqual(await find('q=orders%20l'), [one]);
    assert.deepEqual(await find(`q=${two.slice(-20)}`), [two]);
    assert.deepEqual(await find('q=%25'), []);
    assert.deepEqual(await find('state=valid'), [two, one]);
    assert.deepEqual(await find('state=expired'), []);
    assert.deepEqual(await find('expires_before=253402300799&q=billing'), [two]);
    assert.deepEqual(await find('expires_before=1'), []);
    assert.deepEqual(await find('is_ca=true'), [two, one]);
    assert.deepEqual(await find('is_ca=false'), []);
    const leaf = (await ok('POST', '/api/certs', makeCertificate({ cn: '"isCa":true' }).certPem)).id as string;
    assert.deepEqual([await find('is_ca=true'), await find('is_ca=false')], [[two, one], [leaf]]);
    await ok('DELETE', `/api/certs/${leaf}`);
    const { db } = app().application.installation.records;
    await db.updateTable('certificates').set({ not_after: 1000 }).where('id', '=', one).execute();
    await db.updateTable('certificates').set({ not_after: -62_135_596_800_000 }).where('id', '=', two).execute();
    assert.deepEqual(await find('state=expired'), [one]);
    assert.deepEqual(await find('expires_before=2'), [one]);
    assert.deepEqual(await find('state=valid'), [two]);
  });

  test('users are found by a part of name or address and by state, in their organisation', async () => {
    const { ok } = await open();
    const other = await open();
    const write = (first_name: string, active: boolean) => ({
      first_name,
      last_name: 'Quill',
      email_address: `${first_name}.${createPublicId()}@example.org`.toLowerCase(),
      active,
      user_permissions: { apis: 'read' },
    });
    await ok('POST', '/api/users', write('Ann', true));
    await ok('POST', '/api/users', write('Ben', false));
    await other.ok('POST', '/api/users', write('Cid', true));
    const find = async (query: string) =>
      (await ok('GET', `/api/users?${query}`)).users.map((it: { first_name: string }) => it.first_name) as string[];
    assert.deepEqual(await find('search=QUILL'), ['Ben', 'Ann']);
    assert.deepEqual(await find('search=ann.'), ['Ann']);
    assert.deepEqual(await find('search=quill&state=inactive'), ['Ben']);
    assert.deepEqual(await find('state=inactive'), ['Ben']);
    assert.deepEqual(await find('search=quill&state=active'), ['Ann']);
    assert.deepEqual(await find('search=cid'), []);
  });

  test('user groups and identity profiles are found by a part of their name', async () => {
    const { ok } = await open();
    for (const name of ['Night shift', 'Day shift', 'Audit'])
      await ok('POST', '/api/usergroups', { name, user_permissions: { apis: 'read' } });
    const groups = (await ok('GET', '/api/usergroups?q=SHIFT')).groups.map((it: { name: string }) => it.name);
    assert.deepEqual(groups, ['Day shift', 'Night shift']);
    const DiscoverURL = 'https://idp.example/.well-known/openid-configuration';
    const UseProviders = [{ Name: 'openid-connect', Key: 'client', Secret: 'planted', DiscoverURL }];
    for (const Name of ['Staff', 'Partners'])
      await ok('POST', '/api/sso/profiles', { Name, ProviderName: 'SocialProvider', ProviderConfig: { UseProviders } });
    const profiles = (await ok('GET', '/api/sso/profiles?q=part')).profiles.map((it: { Name: string }) => it.Name);
    assert.deepEqual(profiles, ['Partners']);
  });

  test('another administrator is found among many users, and only an active one counts', async () => {
    const { ok, orgId } = await open();
    const { users } = app().application.installation.services;
    const [administrator] = (await ok('GET', '/api/users')).users;
    const write = (more: object) => ({
      first_name: '"IsAdmin":"admin"',
      last_name: 'B',
      email_address: `${createPublicId()}@example.org`,
      active: true,
      user_permissions: { apis: 'read' },
      ...more,
    });
    for (let n = 0; n < 3; n++) await ok('POST', '/api/users', write({}));
    await ok('POST', '/api/users', write({ active: false, user_permissions: { IsAdmin: 'admin' } }));
    assert.equal(await users.hasOtherAdministrators(orgId, administrator.id), false);
    await ok('POST', '/api/users', write({ user_permissions: { IsAdmin: 'admin' } }));
    assert.equal(await users.hasOtherAdministrators(orgId, administrator.id), true);
  });
});
