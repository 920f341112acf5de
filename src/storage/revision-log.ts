import { type ExpressionBuilder, sql } from 'kysely';
import type { Clock } from '#base/clock.ts';
import { every, type RepeatedWork } from '#base/repeat.ts';
import type { RecordChange } from './collection.ts';
import { type ChangeAuthor, currentAuthor, noteObjectName } from './operation-context.ts';
import type { Records } from './records.ts';
import type { Tables } from './tables.ts';

/** Tables whose objects have a history. */
const revisedTables = [
  'apis',
  'policies',
  'hooks',
  'certificates',
  'users',
  'user_groups',
  'assets',
  'identity_profiles',
] as const;
export type RevisedTable = (typeof revisedTables)[number];

export const isRevised = (table: string): table is RevisedTable => revisedTables.some(name => name === table);

/** `found`: the state of an object that was stored before its history began. */
export type RevisionAction = 'created' | 'updated' | 'deleted' | 'found';

export interface RevisionSummary {
  readonly revision: number;
  readonly atMs: number;
  readonly action: RevisionAction;
  /** Undefined for a state that was found. */
  readonly author: ChangeAuthor | undefined;
}

/** A revision without its state, and the size of that. */
export interface RevisionSize extends RevisionSummary {
  readonly bytes: number;
}

/** A removal that no later revision follows. */
export interface RemovedObject extends RevisionSummary {
  readonly objectId: string;
  readonly publicId: string;
}

/** A state of an object; `state` is undefined for a removal. */
export interface Revision<Doc> extends RevisionSummary {
  readonly state: Doc | undefined;
}

type StoredRow = Record<string, unknown>;

/** Rows of one kind of object, as revisions store and return them. */
export interface RevisedKind<Doc> {
  readonly table: RevisedTable;
  /** Identifies an object by its row. */
  identify(row: StoredRow): { readonly orgId: string; readonly publicId: string; readonly name: string };
  /** Leaves out secrets that a revision must not bring back; the whole row by default. */
  strip?(row: StoredRow): StoredRow;
  /** Opens a stripped row: sealed members become readable. */
  open(row: StoredRow): Doc;
  /** Members whose change alone makes no revision. */
  readonly ignored?: readonly string[];
}

/** History of the objects of one kind. */
export interface ObjectHistory<Doc> {
  readonly recordChange: RecordChange;
  /** Database id of an object with a history, by either of its ids; also of a removed one. */
  findObject(orgId: string, ref: string): Promise<string | undefined>;
  /** Newest first, at most `limit`, from revisions below `before`. */
  list(orgId: string, objectId: string, limit: number, before?: number): Promise<Revision<Doc>[]>;
  /** The same without reading states. */
  listSizes(orgId: string, objectId: string, limit: number, before?: number): Promise<RevisionSize[]>;
  count(orgId: string, objectId: string): Promise<number>;
  get(orgId: string, objectId: string, revision: number): Promise<Revision<Doc> | undefined>;
  /** Removed objects, the last removed first; not those that exist again. */
  listRemoved(orgId: string, request: { readonly limit: number; readonly offset: number }): Promise<RemovedObject[]>;
  countRemoved(orgId: string): Promise<number>;
  /** The newest state: the one before a removal for a removed object. */
  findLastState(orgId: string, objectId: string): Promise<Doc | undefined>;
}

export interface RevisionBounds {
  readonly maxRevisionsPerObject: number;
  /** 0 for ever. */
  readonly retentionMs: number;
  /** Size of the stored states of an organisation; 0 for no bound. */
  readonly maxBytesPerOrganisation: number;
}

export type RevisionLog = ReturnType<typeof createRevisionLog>;

/** Bounds one DELETE, so that it does not block writers. */
const maxRowsPerDelete = 1000;
const pruneIntervalMs = 600_000;
/** Organisations above their bound that one run prunes. */
const maxOrganisationsPerRun = 1000;

/** Log of the states of objects. Each change is recorded in the transaction that makes it. */
export function createRevisionLog(records: Records, clock: Clock, bounds: RevisionBounds) {
  return {
    createHistory: <Doc>(kind: RevisedKind<Doc>): ObjectHistory<Doc> => ({
      recordChange: createRecorder(records, clock, bounds, kind),
      ...createHistoryReads(records, kind),
      ...createRemovedReads(records, kind.table),
    }),

    async removeOrganisation(orgId: string): Promise<void> {
      await records.db.deleteFrom('revisions').where('org_id', '=', orgId).execute();
    },

    /**
     * Removes the oldest revisions of organisations above their size, but for the last state of an object; true when
     * there may be more.
     */
    removeOverflow: () => removeOverflow(records, bounds.maxBytesPerOrganisation),

    /** Removes a batch of revisions that are too old, but for the last state of an object; true when there may be more. */
    async removeExpired(): Promise<boolean> {
      if (bounds.retentionMs === 0) return false;
      const expired = records.db
        .selectFrom('revisions')
        .select('id')
        .where('at', '<', clock.now() - bounds.retentionMs)
        .where(isReplaced)
        .orderBy('at')
        .limit(maxRowsPerDelete);
      const { numDeletedRows } = await records.db.deleteFrom('revisions').where('id', 'in', expired).executeTakeFirst();
      return numDeletedRows >= maxRowsPerDelete;
    },
  };
}

/** Condition of revisions that may be removed: a removal, or a state that a later one replaced. */
const isReplaced = (it: ExpressionBuilder<Tables, 'revisions'>) =>
  it.or([
    it('action', '=', 'deleted' satisfies RevisionAction),
    it(
      'revision',
      '<',
      it
        .selectFrom('revisions as newer')
        .select(newer => newer.fn.max('newer.revision').as('last'))
        .whereRef('newer.kind', '=', 'revisions.kind')
        .whereRef('newer.object_id', '=', 'revisions.object_id'),
    ),
  ]);

async function removeOverflow(records: Records, maxBytes: number): Promise<boolean> {
  if (maxBytes === 0) return false;
  const total = sql<number>`sum(bytes)`;
  const full = await records.db
    .selectFrom('revisions')
    .select(['org_id', total.as('total')])
    .groupBy('org_id')
    .having(total, '>', maxBytes)
    .limit(maxOrganisationsPerRun)
    .execute();
  let hasMore = false;
  for (const { org_id, total: bytes } of full) {
    const oldest = await records.db
      .selectFrom('revisions')
      .select(['id', 'bytes'])
      .where('org_id', '=', org_id)
      .where(isReplaced)
      .orderBy('at')
      .orderBy('id')
      .limit(maxRowsPerDelete)
      .execute();
    let excess = Number(bytes) - maxBytes;
    const removed: number[] = [];
    for (const row of oldest) {
      if (excess <= 0) break;
      removed.push(row.id);
      excess -= Number(row.bytes);
    }
    if (removed.length > 0) await records.db.deleteFrom('revisions').where('id', 'in', removed).execute();
    hasMore ||= excess > 0 && oldest.length === maxRowsPerDelete;
  }
  return hasMore;
}

/**
 * Removes expired revisions, and those above the size of an organisation, while the process runs. Every process on a
 * database may: deleting is idempotent.
 */
export const startRevisionPruning = (log: RevisionLog, onError: (error: Error) => void): RepeatedWork =>
  every(
    pruneIntervalMs,
    async () => {
      while (await log.removeExpired());
      while (await log.removeOverflow());
    },
    { onError, runsAtStart: true },
  );

/** Records changes of one kind; the lock of the object's row, which the caller holds, makes the numbers unique. */
function createRecorder<Doc>(
  records: Records,
  clock: Clock,
  { maxRevisionsPerObject }: RevisionBounds,
  { table, identify, strip = row => row, open, ignored = [] }: RevisedKind<Doc>,
): RecordChange {
  const toKept = (body: string) => strip(JSON.parse(body) as StoredRow);
  /** Comparable form: sealed texts differ each time. */
  const toState = (body: string) => {
    const state = { ...open(toKept(body)) } as StoredRow;
    for (const name of ignored) delete state[name];
    return JSON.stringify(state);
  };

  async function insert(id: string, revision: number, action: RevisionAction, body: string, isRemoval = false) {
    const { orgId, publicId } = identify(JSON.parse(body) as StoredRow);
    const kept = isRemoval ? '' : JSON.stringify(toKept(body));
    await records.db
      .insertInto('revisions')
      .values({
        kind: table,
        org_id: orgId,
        object_id: id,
        public_id: publicId,
        revision,
        at: clock.now(),
        action,
        author: action === 'found' ? '' : JSON.stringify(currentAuthor()),
        body: kept,
        bytes: Buffer.byteLength(kept),
      })
      .execute();
  }

  return async ({ id, before, after }) => {
    const { publicId, name } = identify(JSON.parse((after ?? before)!) as StoredRow);
    noteObjectName(table, [id, publicId], name);
    if (before !== undefined && after !== undefined && toState(before) === toState(after)) return;
    let last = await findLastRevision(records, table, id);
    if (last === 0 && before !== undefined) await insert(id, ++last, 'found', before);
    if (after === undefined) await insert(id, ++last, 'deleted', before!, true);
    else await insert(id, ++last, before === undefined ? 'created' : 'updated', after);
    if (last <= maxRevisionsPerObject) return;
    await records.db
      .deleteFrom('revisions')
      .where('kind', '=', table)
      .where('object_id', '=', id)
      .where('revision', '<=', last - maxRevisionsPerObject)
      .execute();
  };
}

async function findLastRevision(records: Records, kind: string, objectId: string): Promise<number> {
  const found = await records.db
    .selectFrom('revisions')
    .select(it => it.fn.max('revision').as('last'))
    .where('kind', '=', kind)
    .where('object_id', '=', objectId)
    .executeTakeFirst();
  return Number(found?.last ?? 0);
}

interface SummaryRow {
  readonly revision: number;
  readonly at: number;
  readonly action: string;
  readonly author: string;
}

const toSummary = ({ revision, at, action, author }: SummaryRow): RevisionSummary => ({
  revision: Number(revision),
  atMs: Number(at),
  action: action as RevisionAction,
  author: author === '' ? undefined : (JSON.parse(author) as ChangeAuthor),
});

const selectRevisions = (records: Records, kind: RevisedTable, orgId: string, objectId: string) =>
  records.db
    .selectFrom('revisions')
    .where('kind', '=', kind)
    .where('object_id', '=', objectId)
    .where('org_id', '=', orgId);

/** Revisions without their states. */
async function listSizes(
  records: Records,
  kind: RevisedTable,
  { orgId, objectId, limit, before }: { orgId: string; objectId: string; limit: number; before: number | undefined },
): Promise<RevisionSize[]> {
  const all = selectRevisions(records, kind, orgId, objectId)
    .select(['revision', 'at', 'action', 'author', 'bytes'])
    .orderBy('revision', 'desc')
    .limit(limit);
  const rows = await (before === undefined ? all : all.where('revision', '<', before)).execute();
  return rows.map(row => ({ ...toSummary(row), bytes: Number(row.bytes) }));
}

/** Removals that are the last revisions of their objects. */
const selectRemoved = (records: Records, kind: RevisedTable, orgId: string) =>
  records.db
    .selectFrom('revisions')
    .where('kind', '=', kind)
    .where('org_id', '=', orgId)
    .where('action', '=', 'deleted' satisfies RevisionAction)
    .where(it =>
      it(
        'revision',
        '=',
        it
          .selectFrom('revisions as newest')
          .select(newest => newest.fn.max('newest.revision').as('last'))
          .whereRef('newest.kind', '=', 'revisions.kind')
          .whereRef('newest.object_id', '=', 'revisions.object_id'),
      ),
    );

const createRemovedReads = (records: Records, kind: RevisedTable) => ({
  async listRemoved(
    orgId: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<RemovedObject[]> {
    const rows = await selectRemoved(records, kind, orgId)
      .select(['object_id', 'public_id', 'revision', 'at', 'action', 'author'])
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute();
    return rows.map(row => ({ ...toSummary(row), objectId: row.object_id, publicId: row.public_id }));
  },

  async countRemoved(orgId: string): Promise<number> {
    const counted = selectRemoved(records, kind, orgId).select(it => it.fn.countAll<number>().as('total'));
    return Number((await counted.executeTakeFirstOrThrow()).total);
  },
});

function createHistoryReads<Doc>(records: Records, { table, open }: RevisedKind<Doc>) {
  const select = (orgId: string, objectId: string) =>
    selectRevisions(records, table, orgId, objectId).select(['revision', 'at', 'action', 'author', 'body']);
  const toRevision = (row: SummaryRow & { body: string }) => ({
    ...toSummary(row),
    state: row.body === '' ? undefined : open(JSON.parse(row.body) as StoredRow),
  });

  return {
    async findObject(orgId: string, ref: string): Promise<string | undefined> {
      const found = await records.db
        .selectFrom('revisions')
        .select('object_id')
        .where('kind', '=', table)
        .where('org_id', '=', orgId)
        .where(it => it.or([it('object_id', '=', ref), it('public_id', '=', ref)]))
        .orderBy(sql`case when object_id = ${ref} then 0 else 1 end`)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return found?.object_id;
    },

    async list(orgId: string, objectId: string, limit: number, before?: number): Promise<Revision<Doc>[]> {
      const all = select(orgId, objectId).orderBy('revision', 'desc').limit(limit);
      const rows = await (before === undefined ? all : all.where('revision', '<', before)).execute();
      return rows.map(toRevision);
    },

    listSizes: (orgId: string, objectId: string, limit: number, before?: number) =>
      listSizes(records, table, { orgId, objectId, limit, before }),

    async count(orgId: string, objectId: string): Promise<number> {
      const counted = select(orgId, objectId)
        .clearSelect()
        .select(it => it.fn.countAll<number>().as('total'));
      return Number((await counted.executeTakeFirstOrThrow()).total);
    },

    async get(orgId: string, objectId: string, revision: number): Promise<Revision<Doc> | undefined> {
      const row = await select(orgId, objectId).where('revision', '=', revision).executeTakeFirst();
      return row && toRevision(row);
    },

    async findLastState(orgId: string, objectId: string): Promise<Doc | undefined> {
      const query = select(orgId, objectId).where('body', '<>', '').orderBy('revision', 'desc').limit(1);
      const row = await query.executeTakeFirst();
      return row && toRevision(row).state;
    },
  };
}
