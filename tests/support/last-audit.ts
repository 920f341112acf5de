import type { TestApp } from './app.ts';

/** Action, object, organisation and status of the newest audit record. */
export async function readLastAudit(app: TestApp): Promise<unknown[]> {
  const { db } = app.application.installation.records;
  const row = await db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow();
  return [row.action, (JSON.parse(row.body) as { object: string }).object, row.org_id, Number(row.status)];
}
