import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { TestApp } from './app.ts';

/** Name of the object that the copies are made of. */
export const originalName = 'original-of-many';
const rowsAtOnce = 1000;
const number = (n: number) => String(n).padStart(6, '0');

const numbersTo = (last: number) =>
  sql`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(last)})`;

/** APIs `api-000001` and so on, beside the original: copies of its stored row, which no traffic thread loads. */
export async function seedApis({ ask, application }: TestApp, count: number): Promise<void> {
  const proxy = { listen_path: `/${originalName}/`, target_url: 'http://127.0.0.1:9', strip_listen_path: true };
  const definition = { api_id: originalName, name: originalName, use_keyless: true, proxy };
  await ask('POST', '/api/apis?wait=applied', { body: { api_definition: definition } });
  const { db } = application.installation.records;
  const table = 'apis' as never;
  const row = (await db
    .selectFrom(table)
    .selectAll()
    .where('api_id' as never, '=', originalName as never)
    .executeTakeFirst()) as Record<string, unknown> | undefined;
  const databaseId = String(row!.id);
  const copy = (n: number) =>
    Object.fromEntries(
      Object.entries(row!).map(([name, value]) => [
        name,
        typeof value === 'string'
          ? value.replaceAll(originalName, `api-${number(n)}`).replaceAll(databaseId, `copy-${number(n)}`)
          : value,
      ]),
    );
  for (let at = 1; at < count; at += rowsAtOnce) {
    const rows = Array.from({ length: Math.min(rowsAtOnce, count - at) }, (_, n) => copy(at + n));
    await db
      .insertInto(table)
      .values(rows as never)
      .execute();
  }
}

/** Keys with the aliases `key-000001` and so on, beside the original: copies of its row and of its search entry. */
export async function seedKeys({ ask, application }: TestApp, count: number): Promise<void> {
  const proxy = { listen_path: '/many/', target_url: 'http://127.0.0.1:9', strip_listen_path: true };
  const api_definition = { api_id: 'many', name: 'Many', use_standard_auth: true, proxy };
  await ask('POST', '/api/apis?wait=applied', { body: { api_definition } });
  const access_rights = { many: { api_id: 'many', api_name: 'Many', versions: ['Default'] } };
  const made = await ask('POST', '/api/keys', { body: { alias: originalName, access_rights } });
  assert.equal(made.status, 200, made.text);
  const hash: string = made.body.key_hash;
  const { db } = application.installation.records;
  const alias = sql`printf('key-%06d', n)`;
  const copy = (column: string) =>
    sql`replace(replace(${sql.ref(column)}, ${originalName}, ${alias}), ${hash}, printf('%s%06d', substr(${hash}, 7), n))`;
  const numbers = numbersTo(count - 1);
  await sql`insert into keys ${numbers} select ${copy('id')} || n, org_id, created_at + n, ${copy('body')},
    digest || n, ${copy('key_hash')}, kind, sealed, expires_at, inactive from keys, numbers`.execute(db);
  await sql`insert into search_names ${numbers} select org_id, kind, ${copy('text')}, ${copy('object')} || n,
    ${copy('label')}, detail from search_names, numbers where kind = 'keys'`.execute(db);
}

/** Log rows, one each millisecond before the present ones: copies of the only row. */
export async function seedLogs({ application }: TestApp, count: number): Promise<void> {
  const { db } = application.installation.records;
  await sql`insert into logs (org_id, api_id, key_hash, at, status, failed, tags, expires_at, body)
    ${numbersTo(count - 1)} select org_id, api_id, key_hash, at - n, status, failed, tags, expires_at, body
    from logs, numbers`.execute(db);
}
