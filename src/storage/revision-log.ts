import { sql } from 'kysely';
import type { Clock } from '#base/clock.ts';
import { every, type RepeatedWork } from '#base/repeat.ts';
import type { RecordChange } from './collection.ts';
import { type ChangeAuthor, currentAuthor } from './operation-context.ts';
import type { Records } from './records.ts';

/** Tables whose objects have a history. */
export type RevisedTable = 'apis' | 'policies' | 'hooks' | 'certificates' | 'users' | 'user_groups';

/** `found`: the state of an object that was stored before its history began. */
export type RevisionAction = 'created' | 'updated' | 'deleted' | 'found';

export interface RevisionSummary {
  readonly revision: number;
  readonly atMs: number;
  readonly action: RevisionAction;
  /** Undefined for a state that was found. */
  readonly author: ChangeAuthor | undefined;
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
  identify(row: StoredRow): { readonly orgId: string; readonly publicId: string };
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
  count(orgId: string, objectId: string): Promise<number>;
  get(orgId: string, objectId: string, revision: number): Promise<Revision<Doc> | undefined>;
  /** The newest state: the one before a removal for a removed object. */
  findLastState(orgId: string, objectId: string): Promise<Doc | undefined>;
}

export interface RevisionBounds {
  readonly maxRevisionsPerObject: number;
  /** 0 for ever. */
  readonly retentionMs: number;
}

export type RevisionLog = ReturnType<typeof createRevisionLog>;

/** Bounds one DELETE, so that it does not block writers. */
const maxRowsPerDelete = 1000;
const pruneIntervalMs = 3_600_000;

/** Log of the states of objects. Each change is recorded in the transaction that makes it. */
export function createRevisionLog(records: Records, clock: Clock, bounds: RevisionBounds) {
  return {
    createHistory: <Doc>(kind: RevisedKind<Doc>): ObjectHistory<Doc> => ({
      recordChange: createRecorder(records, clock, bounds, kind),
      ...createHistoryReads(records, kind),
    }),

    async removeOrganisation(orgId: string): Promise<void> {
      await records.db.deleteFrom('revisions').where('org_id', '=', orgId).execute();
    },

    /** Removes a batch of revisions that are too old, but for the last state of an object; true when there may be more. */
    async removeExpired(): Promise<boolean> {
      if (bounds.retentionMs === 0) return false;
      const expired = records.db
        .selectFrom('revisions')
        .select('id')
        .where('at', '<', clock.now() - bounds.retentionMs)
        .where(it =>
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
          ]),
        )
        .orderBy('at')
        .limit(maxRowsPerDelete);
      const { numDeletedRows } = await records.db.deleteFrom('revisions').where('id', 'in', expired).executeTakeFirst();
      return numDeletedRows >= maxRowsPerDelete;
    },
  };
}

/** Removes expired revisions while the process runs. Every process on a database may: deleting is idempotent. */
export const startRevisionPruning = (log: RevisionLog, onError: (error: Error) => void): RepeatedWork =>
  every(
    pruneIntervalMs,
    async () => {
      while (await log.removeExpired());
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
        body: isRemoval ? '' : JSON.stringify(toKept(body)),
      })
      .execute();
  }

  return async ({ id, before, after }) => {
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

function createHistoryReads<Doc>(records: Records, { table, open }: RevisedKind<Doc>) {
  const select = (orgId: string, objectId: string) =>
    records.db
      .selectFrom('revisions')
      .select(['revision', 'at', 'action', 'author', 'body'])
      .where('kind', '=', table)
      .where('object_id', '=', objectId)
      .where('org_id', '=', orgId);
  const toRevision = (row: { revision: number; at: number; action: string; author: string; body: string }) => ({
    revision: Number(row.revision),
    atMs: Number(row.at),
    action: row.action as RevisionAction,
    author: row.author === '' ? undefined : (JSON.parse(row.author) as ChangeAuthor),
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
