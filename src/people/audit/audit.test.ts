import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { Clock } from '#base/clock.ts';
import { onEveryEngine, startApp, type TestApp } from '../../../tests/support/app.ts';

interface Shown {
  _id: string;
  action: string;
  object: string;
  url: string;
  status: number;
  user: string;
  org_id: string;
  [member: string]: unknown;
}

const hook = { method: 'POST', target_path: 'http://127.0.0.1:9/' };

onEveryEngine('audit logs', app => {
  const logs = async (path: string, credential?: string): Promise<Shown[]> => {
    const answer = await app().ask('GET', path, credential === undefined ? {} : { credential });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.audit_logs;
  };

  test('a change writes a record with every member, readable by id', async () => {
    const { accessKey, orgId } = await app().stranger();
    const { body } = await app().ask('POST', '/api/hooks', { credential: accessKey, body: hook });
    const [last] = await logs('/api/audit-logs', accessKey);
    const { _id, req_id, date, timestamp, user, ...rest } = last!;
    assert.match(_id, /^\d+$/);
    assert.match(String(req_id), /^[0-9a-f]{32}$/);
    assert.match(String(date), /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
    assert.equal(Date.parse(String(date)) / 1000, timestamp);
    assert.match(user, /@example\.org$/);
    assert.deepEqual(rest, {
      org_id: orgId,
      ip: '127.0.0.1',
      action: 'createHook',
      method: 'POST',
      url: '/api/hooks',
      status: 200,
      object: body.ID,
      surface: 'dashboard',
      object_name: '',
    });
    const read = await app().ask('GET', `/api/audit-logs/${_id}`, { credential: accessKey });
    assert.deepEqual(read.body, last);
  });

  test('an organisation sees records of the operator’s changes to it, and none of other organisations', async () => {
    const mine = await app().stranger();
    const theirs = await app().stranger();
    const seen = await logs('/api/audit-logs?p=-1', mine.accessKey);
    assert.deepEqual(
      seen.map(({ action, user, org_id }) => [action, user, org_id]),
      [
        ['adminCreateUser', 'admin secret', mine.orgId],
        ['createOrganisation', 'admin secret', mine.orgId],
      ],
    );
    const [foreign] = await logs('/api/audit-logs', theirs.accessKey);
    const asked = { credential: mine.accessKey };
    assert.equal((await app().ask('GET', `/api/audit-logs/${foreign!._id}`, asked)).status, 404);
    assert.equal((await app().ask('GET', `/admin/audit-logs/${foreign!._id}`)).status, 200);
    for (const id of ['0', 'abc', '-1', '9'.repeat(20)])
      assert.equal((await app().ask('GET', `/api/audit-logs/${id}`, asked)).status, 404);
  });

  test('the operator sees all records, the portal’s included, or those of one organisation', async () => {
    const { orgId } = await app().stranger();
    await app().ask('POST', '/portal-api/organisations', { body: { Name: 'Audited' } });
    const [last] = await logs('/admin/audit-logs');
    assert.deepEqual([last!.action, last!.surface, last!.org_id], ['createPortalOrganisation', 'portal', '']);
    assert.ok((await logs(`/admin/audit-logs?org_id=${orgId}`)).every(it => it.org_id === orgId));
    assert.ok((await logs('/admin/audit-logs?org_id=')).every(it => it.org_id === ''));
  });

  test('every change of organisations and users names what it changed and its organisation', async () => {
    const { orgId, accessKey: credential } = await app().stranger();
    const email = (name: string) => `${name}@${orgId}.example.org`.toLowerCase();
    const person = (name: string) => ({ email_address: email(name), first_name: 'A', last_name: 'B' });
    const word = 'a long enough password 1!';
    const ask = async (method: string, path: string, body?: unknown) => {
      const own = path.startsWith('/api/') ? { credential } : {};
      const answer = await app().ask(method, path, { ...own, ...(body === undefined ? {} : { body }) });
      assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
      return answer.body;
    };
    const imported = `imported-${orgId}`;
    await ask('PUT', `/admin/organisations/${orgId}`, { owner_name: 'Renamed' });
    await ask('PUT', `/admin/organisations/${orgId}/grants`, { rate: 5, per: 60 });
    await ask('POST', '/admin/organisations/import', { id: imported, owner_name: 'Imported' });
    await ask('DELETE', `/admin/organisations/${imported}`);
    const ann = (await ask('POST', '/admin/users', { ...person('ann'), org_id: orgId })).Meta.id;
    await ask('PUT', `/admin/users/${ann}`, { first_name: 'C' });
    await ask('PUT', `/admin/users/${ann}/actions/allow_reset_passwords`);
    await ask('PUT', `/admin/users/${ann}/actions/disallow_reset_passwords`);
    const user_permissions = { apis: 'read' };
    const bob = (await ask('POST', '/api/users', { ...person('bob'), user_permissions })).Meta;
    await ask('PUT', `/api/users/${bob}`, { ...person('bob'), active: true, user_permissions });
    await ask('PUT', `/api/users/${bob}/actions/key/reset`);
    const me = (await ask('GET', '/api/users/me')).id;
    await ask('POST', `/api/users/${me}/actions/reset`, { new_password: word });
    await ask('PUT', `/api/users/${bob}/actions/revoke`);
    await ask('DELETE', `/api/users/${bob}`);
    const written = await logs('/admin/audit-logs?p=-1');
    const begun = written.findIndex(it => it.action === 'adminCreateUser' && it.object === me);
    assert.deepEqual(
      written
        .slice(0, begun)
        .reverse()
        .map(it => [it.action, it.object, it.org_id]),
      [
        ['updateOrganisation', orgId, orgId],
        ['updateGrants', orgId, orgId],
        ['importOrganisation', imported, imported],
        ['deleteOrganisation', imported, imported],
        ['adminCreateUser', ann, orgId],
        ['adminUpdateUser', ann, orgId],
        ['allowResetPasswords', ann, orgId],
        ['disallowResetPasswords', ann, orgId],
        ['createUser', bob, orgId],
        ['updateUser', bob, orgId],
        ['resetAccessKey', bob, orgId],
        ['resetPassword', me, orgId],
        ['revokeUser', bob, orgId],
        ['deleteUser', bob, orgId],
      ],
    );
  });

  test('a record has the name of its object at that time, also of one that was renamed or deleted', async () => {
    const { orgId, accessKey: credential } = await app().stranger();
    const ask = async (method: string, path: string, body?: unknown) => {
      const answer = await app().ask(method, path, { credential, ...(body === undefined ? {} : { body }) });
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
      return answer.body;
    };
    const path = `named-${orgId}`;
    const api_definition = { ...api(path), name: 'Orders', use_standard_auth: false, use_oauth2: true };
    const apiId = (await ask('POST', '/api/apis', { api_definition })).ID;
    const policy = { name: 'Gold', access_rights: { [apiId]: {} }, rate: 1, per: 1 };
    const policyId = (await ask('POST', '/api/portal/policies', policy)).Message;
    await ask('PUT', `/api/portal/policies/${policyId}`, { ...policy, name: 'Silver' });
    await ask('DELETE', `/api/portal/policies/${policyId}`);
    const { key_id, key_hash } = await ask('POST', '/api/keys', { alias: 'till 4', access_rights: { [apiId]: {} } });
    await ask('DELETE', `/api/keys/${key_id}`);
    const clients = `/api/apis/oauth/${apiId}`;
    const client = await ask('POST', clients, { client_name: 'Shop', redirect_uri: 'https://a.example/' });
    await ask('DELETE', `${clients}/${client.client_id}`);
    const long = await ask('POST', '/api/hooks', { ...hook, name: `"object":"${'x'.repeat(150)}` });
    await ask('DELETE', `/api/apis/${apiId}`);
    const names = async (object: string) =>
      (await logs('/api/audit-logs?p=-1', credential)).filter(it => it.object === object).map(it => it.object_name);
    assert.deepEqual(await names(policyId), ['Silver', 'Silver', 'Gold']);
    assert.deepEqual(await names(key_hash), ['till 4', 'till 4']);
    assert.deepEqual(await names(client.client_id), ['Shop', 'Shop']);
    assert.deepEqual(await names(apiId), ['Orders', 'Orders']);
    assert.deepEqual(await names(long.ID), [`"object":"${'x'.repeat(150)}`]);
  });

  test('a change that is refused names what it was about', async () => {
    const { accessKey: credential } = await app().stranger();
    const missing = 'f'.repeat(24);
    const body = {
      email_address: 'x@example.org',
      first_name: 'A',
      last_name: 'B',
      user_permissions: { apis: 'read' },
    };
    for (const [method, path, sent] of [
      ['PUT', `/admin/users/${missing}`, { first_name: 'C' }],
      ['PUT', `/admin/users/${missing}/actions/allow_reset_passwords`, undefined],
      ['PUT', `/admin/organisations/${missing}`, { owner_name: 'X' }],
      ['PUT', `/admin/organisations/${missing}/grants`, { rate: 5, per: 60 }],
      ['DELETE', `/admin/organisations/${missing}`, undefined],
      ['PUT', `/api/users/${missing}`, body],
      ['PUT', `/api/users/${missing}/actions/key/reset`, undefined],
      ['POST', `/api/users/${missing}/actions/reset`, { new_password: 'a long enough password 1!' }],
      ['PUT', `/api/users/${missing}/actions/revoke`, undefined],
      ['DELETE', `/api/users/${missing}`, undefined],
    ] as const) {
      const own = path.startsWith('/api/') ? { credential } : {};
      const answer = await app().ask(method, path, { ...own, ...(sent === undefined ? {} : { body: sent }) });
      assert.equal(answer.status, 404, `${method} ${path}: ${answer.text}`);
      const [last] = await logs('/admin/audit-logs');
      assert.deepEqual([last!.url, last!.status, last!.object], [path, 404, missing]);
    }
  });

  test('filters are AND-ed', async () => {
    const { accessKey, userId } = await app().stranger();
    const credential = accessKey;
    await app().ask('POST', '/api/hooks', { credential, body: hook });
    await app().ask('POST', '/api/hooks', { credential, body: '{' });
    await app().ask('DELETE', '/api/hooks/Gone', { credential });
    await app().ask('PUT', `/api/users/${userId}/actions/revoke`, { credential });
    const actions = async (query: string) => (await logs(`/api/audit-logs?${query}`, credential)).map(it => it.action);
    const [{ user }] = (await logs('/api/audit-logs?action=createHook', credential)) as [Shown];
    assert.deepEqual(await actions('action=createHook'), ['createHook', 'createHook']);
    assert.deepEqual(await actions('action=createHook&status=400'), ['createHook']);
    assert.deepEqual(await actions(`user=${encodeURIComponent(user.toUpperCase())}&method=delete`), ['deleteHook']);
    assert.deepEqual(await actions('url=/Gone'), ['deleteHook']);
    assert.deepEqual(await actions('url=/gone'), []);
    assert.deepEqual(await actions('url=%25'), []);
    assert.deepEqual(await actions('ip=127.0.0.2'), []);
    for (const status of [100, 599]) assert.deepEqual(await actions(`status=${status}`), []);
    assert.equal((await actions('ip=127.0.0.1&user=admin%20secret')).length, 2);
    const today = new Date(app().application.installation.services.clock.now()).toISOString().slice(0, 10);
    assert.equal((await actions(`from_date=${today}&to_date=${today}`)).length, 6);
    assert.deepEqual(await actions('to_date=2020-01-01'), []);
    assert.deepEqual(await actions('from_date=2999-01-01'), []);
    assert.deepEqual(await actions('action=createHook,%20deleteHook&page_size=2'), ['deleteHook', 'createHook']);
    assert.equal((await actions('action=')).length, 6);
    assert.deepEqual(await actions('action=createHook,deleteHook&except_action=createHook,%20signIn'), ['deleteHook']);
    assert.equal((await actions('except_action=')).length, 6);
    const [{ timestamp }] = (await logs('/api/audit-logs?action=deleteHook', credential)) as [Shown];
    const second = Number(timestamp);
    assert.deepEqual(await actions(`action=deleteHook&start=${second}&end=${second}`), ['deleteHook']);
    assert.deepEqual(await actions(`action=deleteHook&start=${second + 1}&from_date=${today}`), []);
    assert.deepEqual(await actions(`action=deleteHook&end=${second - 1}&to_date=${today}`), []);
    for (const [query, place] of [
      ['from_date=yesterday', 'from_date'],
      ['to_date=2020-02-31', 'to_date'],
      ['status=ok', 'status'],
      ['status=99', 'status'],
      ['status=600', 'status'],
      ['p=x', 'p'],
      ['page_size=101', 'page_size'],
      ['start=today', 'start'],
    ] as const) {
      const answer = await app().ask('GET', `/api/audit-logs?${query}`, { credential });
      assert.equal(answer.status, 400);
      assert.ok(answer.body.Message.startsWith(`${place}: `), answer.body.Message);
    }
  });

  test('records are listed in pages, newest first', async () => {
    const { accessKey: credential } = await app().stranger();
    for (let n = 0; n < 11; n++) await app().ask('DELETE', `/api/hooks/h${n}`, { credential });
    const page = async (p: string) => (await app().ask('GET', `/api/audit-logs?p=${p}`, { credential })).body;
    const first = await page('1');
    assert.deepEqual([first.audit_logs.length, first.pages], [10, 2]);
    assert.equal(first.audit_logs[0].object, 'h10');
    assert.equal((await page('2')).audit_logs.length, 3);
    assert.deepEqual(await page('99'), { audit_logs: [], pages: 2 });
    assert.equal((await page('-1')).audit_logs.length, 13);
  });

  test('no record contains a key, wherever the path has it', async () => {
    const apiId = (await app().ask('POST', '/api/apis', { body: { api_definition: api('audited') } })).body.ID;
    const body = { access_rights: { [apiId]: {} } };
    const { key_id: keyId, key_hash: hash } = (await app().ask('POST', '/api/keys', { body })).body;
    await app().ask('PUT', `/api/apis/${apiId}/keys/${keyId}`, { body });
    await app().ask('DELETE', `/api/keys/${keyId}`);
    const records = await logs('/api/audit-logs?p=-1');
    assert.ok(!JSON.stringify(records).includes(keyId.slice(24)));
    const ofKey = records.filter(it => it.object === hash);
    assert.deepEqual(
      ofKey.map(it => it.url),
      ['/api/keys/{keyId}', `/api/apis/${apiId}/keys/{keyId}`, '/api/keys'],
    );
  });
});

const api = (name: string) => ({
  name,
  use_standard_auth: true,
  proxy: { listen_path: `/${name}/`, target_url: 'http://127.0.0.1:9/' },
});

test('an unpaged list of records is bounded', async () => {
  const app = await startApp('sqlite');
  try {
    const { records, audit } = app.application.installation.services;
    await sql`
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 100001)
      insert into audit (org_id, at, actor, action, method, url, status, ip, body)
      select 'bound', n, '', '', '', '', 200, '', '{}' from numbers`.execute(records.db);
    const filter = { orgId: 'bound' };
    await assert.rejects(audit.page(filter, { page: -1, size: 10 }), { code: 'database.too_many' });
    assert.equal((await audit.page(filter, { page: 10_001, size: 10 })).items.length, 1);
    await sql`delete from audit where org_id = 'bound' and at = 1`.execute(records.db);
    assert.equal((await audit.page(filter, { page: -1, size: 10 })).items.length, 100_000);
  } finally {
    await app.close();
  }
});

test('records older than the retention are deleted, younger ones stay', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const clock: Clock = { now: () => now };
  const app: TestApp = await startApp('sqlite', { clock });
  try {
    await app.ask('DELETE', '/api/hooks/old');
    now += 31 * 86_400_000;
    await app.ask('DELETE', '/api/hooks/young');
    await app.application.installation.services.audit.removeOlderThan(30);
    const { audit_logs } = (await app.ask('GET', '/api/audit-logs')).body;
    assert.deepEqual(
      audit_logs.map((it: Shown) => it.object),
      ['young'],
    );
  } finally {
    await app.close();
  }
});
