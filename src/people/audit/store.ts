import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Clock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import type { AuditEntry } from '#operations/audit.ts';
import { type PageRequest, toContainsPattern } from '#storage/collection.ts';
import { problem as storageProblem } from '#storage/database-errors.ts';
import { selectListed } from '#storage/listed-values.ts';
import type { Records } from '#storage/records.ts';
import type { Tables } from '#storage/tables.ts';
import { problem } from '../problems.ts';
import type { AuditRecord } from './schema.ts';

export type AuditStore = ReturnType<typeof createAuditStore>;

/** Filter; conditions are AND-ed. */
export interface AuditFilter {
  readonly orgId?: string | undefined;
  readonly surface?: string | undefined;
  /** Id of the object. */
  readonly object?: string | undefined;
  readonly actor?: string | undefined;
  /** Names of operations, any of them. */
  readonly actions?: readonly string[] | undefined;
  readonly exceptActions?: readonly string[] | undefined;
  readonly ip?: string | undefined;
  readonly method?: string | undefined;
  readonly status?: number | undefined;
  /** Part of the path, case-sensitive. */
  readonly urlPart?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly beforeMs?: number | undefined;
}

/** Fields without a column. Records of earlier versions have no request id. */
interface Body {
  surface: string;
  actor_id: string;
  object: string;
  /** Absent where the object has no name, and in records of earlier versions. */
  object_name?: string | undefined;
  object_table?: string | undefined;
  req_id?: string;
}

/** Bounds an unpaged list, so that one request cannot exhaust the memory. */
const maxListItems = 100_000;
/** Bounds an export, which is streamed. */
export const maxExportedRecords = 500_000;
const exportBatchRows = 1000;
const columns = ['id', 'org_id', 'at', 'actor', 'action', 'method', 'url', 'status', 'ip', 'body'] as const;

/** Audit log: append-only, apart from deletion by age. */
export function createAuditStore(records: Records, clock: Clock) {
  const selectMatching = (filter: AuditFilter) => records.db.selectFrom('audit').where(toCondition(records, filter));

  return {
    async write({ actor, orgId, action, method, url, status, ip, object, named }: AuditEntry): Promise<void> {
      const row = { org_id: orgId, at: clock.now(), actor: actor.name, action, method, url, status, ip };
      const body: Body = {
        surface: actor.surface,
        actor_id: actor.id,
        object,
        object_name: named?.name,
        object_table: named?.table,
        req_id: createPublicId(),
      };
      await records.db
        .insertInto('audit')
        .values({ ...row, body: JSON.stringify(body) })
        .execute();
    },

    /** Newest first. */
    async page(filter: AuditFilter, { page, size }: PageRequest): Promise<{ items: AuditRecord[]; pages: number }> {
      const countQuery = selectMatching(filter).select(sql<number>`count(*)`.as('total'));
      const total = Number((await countQuery.executeTakeFirstOrThrow()).total);
      const isUnpaged = page < 1;
      if (isUnpaged && total > maxListItems) throw storageProblem.too_many({ detail: { maxItems: maxListItems } });
      const rows = await selectMatching(filter)
        .select(columns)
        .orderBy('id', 'desc')
        .limit(isUnpaged ? maxListItems : size)
        .offset(isUnpaged ? 0 : (page - 1) * size)
        .execute();
      return { items: rows.map(toRecord), pages: isUnpaged ? 1 : Math.max(1, Math.ceil(total / size)) };
    },

    /**
     * All matching records in batches, newest first: one query for each batch, so that a slow reader holds no connection
     * of the database. Records that are written meanwhile are left out.
     */
    export: (filter: AuditFilter) => exportRecords(selectMatching(filter)),

    async get(id: number, orgId?: string): Promise<AuditRecord | undefined> {
      const row = await selectMatching({ orgId }).select(columns).where('id', '=', id).executeTakeFirst();
      return row && toRecord(row);
    },

    async removeOlderThan(days: number): Promise<void> {
      if (days === 0) return;
      await records.db
        .deleteFrom('audit')
        .where('at', '<', clock.now() - days * 86_400_000)
        .execute();
    },
  };
}

async function exportRecords(matching: SelectQueryBuilder<Tables, 'audit', unknown>) {
  const summary = matching.select([sql<number>`count(*)`.as('total'), sql<number>`max(id)`.as('last')]);
  const { total, last } = await summary.executeTakeFirstOrThrow();
  if (Number(total) > maxExportedRecords) throw problem.audit_export_too_large({ detail: { max: maxExportedRecords } });
  const selected = matching.select(columns).orderBy('id', 'desc').limit(exportBatchRows);
  return readBatches(Number(last ?? 0) + 1, before => selected.where('id', '<', before).execute());
}

async function* readBatches(before: number, readBatch: (before: number) => Promise<Row[]>) {
  for (let next = before; ; ) {
    const rows = await readBatch(next);
    if (rows.length > 0) yield rows.map(toRecord);
    if (rows.length < exportBatchRows) return;
    next = Number(rows.at(-1)!.id);
  }
}

/** Member of the stored JSON: inside of texts quotation marks are escaped, so that no text looks like it. */
const toMemberPattern = (name: keyof Body, value: string) =>
  toContainsPattern(JSON.stringify({ [name]: value }).slice(1, -1));

function toCondition(
  records: Records,
  { orgId, surface, object, actions, exceptActions, urlPart, fromMs, beforeMs, ...equal }: AuditFilter,
) {
  const conditions = Object.entries({ org_id: orgId, ...equal })
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => sql<SqlBool>`${sql.ref(column)} = ${value}`);
  for (const [name, value] of Object.entries({ surface, object }))
    if (value !== undefined)
      conditions.push(sql<SqlBool>`body like ${toMemberPattern(name as keyof Body, value)} escape '\\'`);
  if (actions) conditions.push(sql<SqlBool>`action in ${selectListed(records, actions)}`);
  if (exceptActions) conditions.push(sql<SqlBool>`action not in ${selectListed(records, exceptActions)}`);
  // `replace` compares case-sensitively on both engines, unlike LIKE.
  if (urlPart) conditions.push(sql<SqlBool>`replace(url, ${urlPart}, '') <> url`);
  if (fromMs !== undefined) conditions.push(sql<SqlBool>`at >= ${fromMs}`);
  if (beforeMs !== undefined) conditions.push(sql<SqlBool>`at < ${beforeMs}`);
  return conditions.reduce((all, each) => sql<SqlBool>`${all} and ${each}`, sql<SqlBool>`1 = 1`);
}

type Row = Pick<AuditRecord, Exclude<(typeof columns)[number], 'body'>> & { body: string };

/** PostgreSQL may return bigint columns as text. */
function toRecord({ id, at, status, body, ...row }: Row): AuditRecord {
  const { surface, object, ...stored } = JSON.parse(body) as Body;
  const { object_name: objectName = '', object_table: objectTable = '', req_id: reqId = '' } = stored;
  const numbers = { id: Number(id), at: Number(at), status: Number(status) };
  return { ...row, ...numbers, surface, object, objectName, objectTable, reqId };
}
