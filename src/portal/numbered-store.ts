import { type RawBuilder, sql } from 'kysely';
import type { ProblemFactory } from '#base/problems.ts';
import { createInvalidProblem, type ValidationError } from '#operations/validation-error.ts';
import { type Columns, createCollection, type Query, type RecordChange } from '#storage/collection.ts';
import type { PortalTables } from '#storage/portal-tables.ts';
import type { Records } from '#storage/records.ts';
import { toBatches } from './batch-store.ts';
import type { PortalPageQuery, PortalRef, Reference } from './shapes.ts';

type NumberedTable = {
  [T in keyof PortalTables]: PortalTables[T] extends { id: number; body: string } ? T : never;
}[keyof PortalTables];
type Match<T extends NumberedTable> = Partial<Columns<T>>;

/** PostgreSQL takes values without a type for text. */
const toTypedValue = (value: unknown) => (typeof value === 'number' ? sql`cast(${value} as bigint)` : sql`${value}`);

/** Filter of objects that are behind one of these policies. */
export const toPolicyFilter = (policyIds: readonly string[]) => ({
  filter: (query: Query) =>
    query.where(policyIds.length === 0 ? sql<boolean>`1 = 0` : sql<boolean>`reference_id in (${sql.join(policyIds)})`),
  order: ['id'] as const,
});

/** Base store of portal objects with numeric ids. */
export function createNumberedStore<T extends NumberedTable, Doc extends { ID: number; CID?: string; Name?: string }>(
  records: Records,
  table: T,
  columnsOf: (doc: Doc) => Omit<Columns<T>, 'id'>,
  conflict?: ProblemFactory,
  recordChange?: RecordChange,
) {
  const rows = createCollection<T, Doc>(records, table, columnsOf, conflict, undefined, undefined, recordChange);
  // The cast is needed because the compiler cannot see the columns of a generic table.
  const toColumns = (ref: PortalRef | number) => (typeof ref === 'number' ? { id: ref } : ref) as unknown as Match<T>;
  const newestFirst = ['-id'] as unknown as readonly `-${keyof Columns<T> & string}`[];
  const oldestFirst = ['id'] as unknown as readonly (keyof Columns<T> & string)[];
  const anyOf = (column: string, values: readonly (number | string)[]) => (query: Query) =>
    query.where(sql<boolean>`${sql.ref(column)} in (${sql.join(values)})`);

  const findAmong = (column: string, values: readonly (number | string)[]) =>
    readInBatches(values, batch => rows.all({ filter: anyOf(column, batch), order: oldestFirst }));

  const buildPage = ({ page, per_page, limit = per_page }: PortalPageQuery, where: Match<T>) =>
    rows
      .listing({ where, order: newestFirst })
      .limit(Math.min(limit, per_page))
      .offset((page - 1) * per_page);

  return {
    rows,
    get: (ref: PortalRef | number) => rows.find(toColumns(ref)),
    all: (where: Match<T> = {}) => rows.all({ where, order: oldestFirst }),
    count: (where: Match<T> = {}) => rows.count(where),

    /** A page, newest first. */
    async page(query: PortalPageQuery, where: Match<T> = {}): Promise<Doc[]> {
      return (await buildPage(query, where).execute()).map(rows.parse);
    },

    /** Characters of the stored documents of a page, which are not read. */
    pageLength: (query: PortalPageQuery, where: Match<T> = {}) => sumLengths(records, buildPage(query, where)),

    async byIds(ids: readonly number[]): Promise<Map<number, Doc>> {
      return new Map((await findAmong('id', ids)).map(doc => [doc.ID, doc]));
    },

    insert: (doc: Omit<Doc, 'ID'>) =>
      rows.insertNumbered({ ...doc, ID: 0 } as Doc, (numbered, ID) => ({ ...numbered, ID })),
    change: (ref: PortalRef | number, change: (doc: Doc) => Doc | Promise<Doc>) => rows.change(toColumns(ref), change),
    /** Inside a transaction: changes all matching documents, under row locks, a statement for each batch; unrecorded. */
    async changeAll(where: RawBuilder<boolean>, change: (doc: Doc) => Doc): Promise<Doc[]> {
      const lock = sql<{ body: string }>`update ${sql.table(table)} set id = id where ${where} returning body`;
      const changed = (await lock.execute(records.db)).rows.map(row => change(rows.parse(row)));
      await updateAll(records, table, changed, columnsOf);
      return changed;
    },
    remove: (id: number) => rows.remove(toColumns(id)),

    /** Resolves references of a body at `path`, deduplicated; throws all unknown ones. For tables with `cid` and `name`. */
    resolveReferences: (references: readonly Reference[], path: string, what: string): Promise<Doc[]> =>
      findReferences(references, findAmong, path, what),
  };
}

/** Reads the documents of many values, ordered by id. */
async function readInBatches<Value, Doc extends { ID: number }>(
  values: readonly Value[],
  read: (batch: readonly Value[]) => Promise<Doc[]>,
): Promise<Doc[]> {
  const unique = [...new Set(values)];
  const found: Doc[] = [];
  for (const batch of toBatches(unique)) found.push(...(await read(batch)));
  return found.sort((a, b) => a.ID - b.ID);
}

async function sumLengths(records: Records, query: Query): Promise<number> {
  const total = sql<number>`coalesce(sum(length(body)), 0)`.as('total');
  return Number((await records.db.selectFrom(query.as('page')).select(total).executeTakeFirstOrThrow()).total);
}

/** Writes documents with one statement for each batch. */
async function updateAll<Doc extends { ID: number }>(
  records: Records,
  table: NumberedTable,
  docs: readonly Doc[],
  columnsOf: (doc: Doc) => object,
): Promise<void> {
  const name = sql.table(table);
  for (const batch of toBatches(docs)) {
    const rows = batch.map(doc => ({ body: JSON.stringify(doc), ...columnsOf(doc), doc }));
    const columns = ['body', ...Object.keys(columnsOf(docs[0]!))];
    // Both engines name the columns of VALUES column1, column2, ….
    const changes = columns.map((column, at) => sql`${sql.ref(column)} = changed.${sql.ref(`column${at + 2}`)}`);
    const tuples = rows.map(({ doc, ...row }) => sql`(${sql.join([doc.ID, ...Object.values(row)].map(toTypedValue))})`);
    await sql`update ${name} set ${sql.join(changes)} from (values ${sql.join(tuples)}) as changed
      where ${name}.id = changed.column1`.execute(records.db);
  }
}

async function findReferences<Doc extends { ID: number; CID?: string; Name?: string }>(
  references: readonly Reference[],
  findAmong: (column: string, values: readonly Reference[]) => Promise<Doc[]>,
  path: string,
  what: string,
): Promise<Doc[]> {
  const byId = await findAmong(
    'id',
    references.filter(it => typeof it === 'number'),
  );
  const texts = references.filter(it => typeof it === 'string');
  const byText = [...(await findAmong('cid', texts)), ...(await findAmong('name', texts))];
  const find = (it: Reference) =>
    typeof it === 'number' ? byId.find(({ ID }) => ID === it) : byText.find(doc => hasName(doc, it));
  return findReferenced(references, find, path, what);
}

const hasName = (doc: { CID?: string; Name?: string }, text: string) => doc.CID === text || doc.Name === text;

/** The referenced objects, each once; throws all unknown references. */
function findReferenced<Doc extends { ID: number }>(
  references: readonly Reference[],
  find: (reference: Reference) => Doc | undefined,
  path: string,
  what: string,
): Doc[] {
  const faults: ValidationError[] = [];
  const byNumber = new Map<number, Doc>();
  for (const [place, it] of references.entries()) {
    const doc = find(it);
    if (doc) byNumber.set(doc.ID, doc);
    else faults.push({ path: `${path}[${place}]`, message: `there is no ${what} ${it}` });
  }
  if (faults.length > 0) throw createInvalidProblem(faults);
  return [...byNumber.values()];
}
