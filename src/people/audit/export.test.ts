import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { onEveryEngine, startApp, type TestApp } from '../../../tests/support/app.ts';

const insertRecords = (app: TestApp, orgId: string, count: number, actor = '', surface = 'dashboard') =>
  sql`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})
    insert into audit (org_id, at, actor, action, method, url, status, ip, body)
    select cast(${orgId} as text), n, cast(${actor} as text), 'createHook', 'POST', '/api/hooks', 200, '', cast(${JSON.stringify({ surface, object: 'o' })} as text)
    from numbers`.execute(app.application.installation.records.db);

onEveryEngine('audit export', app => {
  const read = async (path: string, credential?: string) => {
    const answer = await app().ask('GET', path, credential === undefined ? {} : { credential });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };

  test('the file has every record of the list, newest first, in both formats', async () => {
    const { accessKey, orgId } = await app().stranger();
    await insertRecords(app(), orgId, 2500);
    const listed = (await read('/api/audit-logs?p=-1', accessKey)).body.audit_logs;
    const json = await read('/api/audit-logs/export?type=json', accessKey);
    assert.deepEqual(json.body.audit_logs, listed);
    assert.ok(listed.length > 2500);
    assert.match(json.headers.get('content-type') ?? '', /^application\/json/);
    const csv = await read('/api/audit-logs/export', accessKey);
    assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/);
    assert.equal(csv.headers.get('content-disposition'), 'attachment; filename="audit-logs.csv"');
    const lines = csv.text.split('\r\n');
    assert.equal(lines.length, listed.length + 2);
    assert.equal(
      lines[0],
      '_id,req_id,org_id,date,timestamp,ip,user,action,method,url,status,object,surface,object_name',
    );
    const ids = lines.slice(1, -1).map(line => line.split(',')[0]);
    assert.deepEqual(
      ids,
      listed.map((it: { _id: string }) => it._id),
    );
  });

  test('the filters of the list apply, and a formula in a field is no formula in CSV', async () => {
    const { accessKey, orgId } = await app().stranger();
    await insertRecords(app(), orgId, 2, '=cmd()');
    const none = await read('/api/audit-logs/export?type=json&user=nobody', accessKey);
    assert.deepEqual(none.body, { audit_logs: [] });
    const { text } = await read('/api/audit-logs/export?user=%3Dcmd()&to_date=1970-01-01', accessKey);
    assert.equal(text.match(/,createHook,/g)?.length, 2);
    assert.ok(text.includes(",'=cmd(),") && !text.includes(',=cmd()'));
    for (const query of ['type=xml', 'status=ok', 'from_date=yesterday'])
      assert.equal((await app().ask('GET', `/api/audit-logs/export?${query}`, { credential: accessKey })).status, 400);
  });

  test('an organisation exports its own records alone, the operator all or those of one organisation', async () => {
    const [one, other] = [await app().stranger(), await app().stranger()];
    const organisations = async (path: string, credential?: string) =>
      new Set((await read(path, credential)).body.audit_logs.map((it: { org_id: string }) => it.org_id));
    assert.deepEqual(await organisations('/api/audit-logs/export?type=json', one.accessKey), new Set([one.orgId]));
    const foreign = `/api/audit-logs/export?type=json&org_id=${other.orgId}`;
    assert.equal((await app().ask('GET', foreign, { credential: one.accessKey })).status, 400);
    const all = await organisations('/admin/audit-logs/export?type=json');
    assert.ok(all.has(one.orgId) && all.has(other.orgId));
    const ofOther = `/admin/audit-logs/export?type=json&org_id=${other.orgId}`;
    assert.deepEqual(await organisations(ofOther), new Set([other.orgId]));
  });
});

test('an export of more records than the bound is refused before the first byte', async () => {
  const app = await startApp('sqlite');
  try {
    const { accessKey, orgId } = await app.stranger();
    await insertRecords(app, orgId, 500_001);
    await insertRecords(app, '', 500_001, '', 'portal');
    for (const [path, credential] of [
      ['/api/audit-logs/export', accessKey],
      [`/admin/audit-logs/export?org_id=${orgId}`, undefined],
      ['/portal-api/audit-logs/export', undefined],
    ] as const) {
      const { status, text } = await app.ask('GET', path, credential === undefined ? {} : { credential });
      assert.ok([400, 422].includes(status), `${path} ${status}`);
      assert.match(text, /More than 500000 audit records match/);
    }
  } finally {
    await app.close();
  }
});

test('a database that fails during an export ends the connection before the file is complete', async () => {
  const app = await startApp('sqlite');
  try {
    const { accessKey, orgId } = await app.stranger();
    await insertRecords(app, orgId, 20_000);
    const url = `${app.url.dashboard}/api/audit-logs/export?type=json`;
    const response = await fetch(url, { headers: { authorization: accessKey } });
    assert.equal(response.status, 200);
    const reader = response.body!.getReader();
    await reader.read();
    await sql`alter table audit rename to audit_elsewhere`.execute(app.application.installation.records.db);
    const readToEnd = async () => {
      while (!(await reader.read()).done);
    };
    await assert.rejects(readToEnd());
    await sql`alter table audit_elsewhere rename to audit`.execute(app.application.installation.records.db);
  } finally {
    await app.close();
  }
});
