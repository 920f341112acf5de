import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { ProblemFactory } from '#base/problems.ts';
import { problem, toDatabaseProblem } from './database-errors.ts';
import { findRowObserver } from './operation-context.ts';
import type { Records } from './records.ts';
import { type SearchEntry, type SearchKind, writeSearchEntry } from './search-names.ts';
import type { TableName, Tables } from './tables.ts';
import { openRows } from './unreadable-rows.ts';

/** Tables of documents: an id, the columns that are searched or sorted, and the rest as JSON in `body`. */
type RecordTable = { [T in TableName]: Tables[T] extends { id: unknown; body: string } ? T : never }[TableName];

/** Columns a store writes; `body` is encoded from the document. */
export type Columns<T extends RecordTable> = Omit<{ [C in keyof Tables[T]]: Plain<Tables[T][C]> }, 'body'>;
type Plain<C> = C extends { __select__: infer S } ? S : C;

type Match<T extends RecordTable> = Partial<Columns<T>>;
export type Query = SelectQueryBuilder<Tables, RecordTable, { body: string }>;

export interface PageRequest {
  /** From 1; below 1 means everything. */
  page: number;
  size: number;
}

/** Everything on one page, within the bound of an unpaged list. */
export const wholeList: PageRequest = { page: -1, size: 1 };

export interface Page<Doc> {
  items: Doc[];
  /** At least 1. */
  pages: number;
  total: number;
}

export interface Listing<T extends RecordTable> {
  where?: Match<T>;
  /** Conditions other than equality. */
  filter?: (query: Query) => Query;
  /** Column names, `-` before one for descending. */
  order: readonly (`-${keyof Columns<T> & string}` | (keyof Columns<T> & string))[];
}

/** Bounds an unpaged list, so that one request cannot exhaust the memory. */
const maxListItems = 100_000;

/**
 * Object limit, checked inside the transaction that inserts: rejects one object more than the organisation may have.
 */
export type CheckObjectLimit = (orgId: string, count: (orgId: string) => Promise<number>) => Promise<void>;

/** For stores without an object limit. */
export const noObjectLimit: CheckObjectLimit = async () => undefined;

/** Encoding of `body` where it differs from the document: secrets are sealed in it, for one. */
export interface BodyCodec<Doc> {
  encode(doc: Doc): unknown;
  decode(stored: unknown): Doc;
}

/** Entry of each document in the search index; written and removed with the document. */
export interface SearchIndexing<Doc> {
  readonly kind: SearchKind;
  toEntry(doc: Doc): SearchEntry;
}

const plainBody: BodyCodec<unknown> = { encode: doc => doc, decode: stored => stored };

/** A written row: `before` is undefined for an insert, `after` for a removal. */
export interface RowChange {
  readonly id: string;
  /** Stored texts of `body`. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Records a change of a row in its transaction. */
export type RecordChange = (change: RowChange) => Promise<void>;

/** Document store on one table, with paging and conflict translation; each noun's store adds its own queries. */
export function createCollection<T extends RecordTable, Doc>(
  records: Records,
  table: T,
  toColumns: (doc: Doc) => Columns<T> | Omit<Columns<T>, 'id'>,
  conflict: ProblemFactory = problem.conflict,
  codec = plainBody as BodyCodec<Doc>,
  search?: SearchIndexing<Doc>,
  recordChange?: RecordChange,
) {
  const queries = createQueries<T>(records, table);
  const parse = ({ body }: { body: string }) => codec.decode(JSON.parse(body));
  const toRow = (doc: Doc) => ({ ...toColumns(doc), body: JSON.stringify(codec.encode(doc)) }) as DocumentRow;
  const writes = createWrites<T, Doc>(records, queries, { parse, toRow, conflict, recordChange });
  return {
    select: queries.select,
    parse,
    count: queries.count,
    listing: queries.buildListQuery,
    ...createReads<T, Doc>(queries, parse),
    ...(search ? withSearchIndex<T, Doc>(records, queries, writes, { ...search, toColumns }) : writes),
  };
}

type Queries<T extends RecordTable> = ReturnType<typeof createQueries<T>>;

function createQueries<T extends RecordTable>(records: Records, table: T) {
  // Kysely cannot infer columns from a generic table name, so the generic queries are typed by hand, once.
  const name = table as RecordTable;
  const select = () => records.db.selectFrom(name).select('body') as unknown as Query;

  function applyWhere(query: Query, where: Match<T> = {}): Query {
    let narrowedQuery = query;
    for (const [column, value] of Object.entries(where))
      narrowedQuery = narrowedQuery.where(column as never, '=', value as never);
    return narrowedQuery;
  }

  function buildListQuery({ where, filter, order }: Listing<T>): Query {
    let query = applyWhere(select(), where);
    if (filter) query = filter(query);
    for (const column of order) {
      const descending = column.startsWith('-');
      query = query.orderBy(sql.ref(descending ? column.slice(1) : column), descending ? 'desc' : 'asc');
    }
    return query;
  }

  async function count(where: Match<T> = {}, filter?: (query: Query) => Query): Promise<number> {
    const matched = applyWhere(select(), where);
    const counted = (filter ? filter(matched) : matched).clearSelect().select(sql<number>`count(*)`.as('total'));
    return Number((await counted.executeTakeFirstOrThrow()).total);
  }

  return { name, select, applyWhere, buildListQuery, count };
}

function createReads<T extends RecordTable, Doc>(queries: Queries<T>, parse: (row: { body: string }) => Doc) {
  const { name, select, applyWhere, buildListQuery, count } = queries;
  const readId = ({ body }: { body: string }): string => String((JSON.parse(body) as { id?: unknown }).id);

  return {
    async find(where: Match<T>): Promise<Doc | undefined> {
      const row = await applyWhere(select(), where).limit(1).executeTakeFirst();
      if (row) findRowObserver(name)?.onRead(row.body);
      return row && parse(row);
    },

    async all(listing: Listing<T>): Promise<Doc[]> {
      const rows = await buildListQuery(listing)
        .limit(maxListItems + 1)
        .execute();
      if (rows.length > maxListItems) throw problem.too_many({ detail: { maxItems: maxListItems } });
      if (rows[0]) findRowObserver(name)?.onRead(rows[0].body);
      return openRows(rows, parse, readId);
    },

    async page(listing: Listing<T>, { page, size }: PageRequest): Promise<Page<Doc>> {
      const total = await count(listing.where, listing.filter);
      if (page < 1) return { items: await this.all(listing), pages: 1, total };
      const rows = await buildListQuery(listing)
        .limit(size)
        .offset((page - 1) * size)
        .execute();
      return { items: openRows(rows, parse, readId), pages: Math.max(1, Math.ceil(total / size)), total };
    },
  };
}

interface DocumentRows<Doc> {
  parse(row: { body: string }): Doc;
  toRow(doc: Doc): DocumentRow;
  /** Thrown for a unique violation. */
  readonly conflict: ProblemFactory;
  readonly recordChange: RecordChange | undefined;
}

/** The columns that every document table has. */
interface DocumentRow {
  readonly id: string;
  readonly body: string;
}

function createWrites<T extends RecordTable, Doc>(records: Records, queries: Queries<T>, rows: DocumentRows<Doc>) {
  const { parse, toRow } = rows;
  const { insertRow, updateRow, deleteRows, lockRows } = createStatements(records, queries, rows.conflict);
  const { isObserved, writeObserved } = createObservation(queries.name, rows.recordChange);

  const replaceLocked = (where: Match<T>, { id, body: before }: DocumentRow, row: DocumentRow) =>
    writeObserved({ id, before, after: row.body }, () => updateRow(where, row));

  return {
    async insert(doc: Doc): Promise<void> {
      const row = toRow(doc);
      if (!isObserved()) return void (await insertRow(row));
      const change = { id: row.id, before: undefined, after: row.body };
      await records.write(() => writeObserved(change, () => insertRow(row)));
    },

    /** For tables with a serial id: `withId` puts the generated id into the document. */
    async insertNumbered(doc: Doc, withId: (doc: Doc, id: number) => Doc): Promise<Doc> {
      return records.write(async () => {
        const id = Number((await insertRow(toRow(doc))).id);
        const numbered = withId(doc, id);
        await this.replace({ id } as unknown as Match<T>, numbered);
        return numbered;
      });
    },

    async replace(where: Match<T>, doc: Doc): Promise<boolean> {
      if (!isObserved()) return updateRow(where, toRow(doc));
      return records.write(async () => {
        const [before] = await lockRows(where);
        if (before) await replaceLocked(where, before, toRow(doc));
        return before !== undefined;
      });
    },

    /** Reads a record under a row lock, which the transaction around it holds until its end. */
    lock: async (where: Match<T>): Promise<Doc | undefined> => (await lockRows(where)).map(parse)[0],

    /** Read-modify-write in one transaction under a row lock: no concurrent change of the same record is lost. */
    async change(where: Match<T>, change: (doc: Doc) => Doc | Promise<Doc>): Promise<Doc | undefined> {
      return records.write(async () => {
        const [before] = await lockRows(where);
        if (!before) return undefined;
        const next = await change(parse(before));
        await replaceLocked(where, before, toRow(next));
        return next;
      });
    },

    async remove(where: Match<T>): Promise<boolean> {
      if (!isObserved()) return deleteRows(where);
      return records.write(async () => {
        const found = await lockRows(where);
        for (const { id, body } of found)
          await writeObserved({ id, before: body, after: undefined }, () => deleteRows({ id } as unknown as Match<T>));
        return found.length > 0;
      });
    },
  };
}

/** Observation of writes: rows that nothing observes are written without being read first. */
const createObservation = (table: TableName, recordChange: RecordChange | undefined) => ({
  isObserved: () => recordChange !== undefined || findRowObserver(table) !== undefined,

  /** Writes a row between the check of its observer and the record of the change, in the transaction of the caller. */
  async writeObserved(change: RowChange, write: () => Promise<unknown>): Promise<void> {
    findRowObserver(table)?.onWrite(change.id, change.before, change.after);
    await write();
    await recordChange?.(change);
  },
});

/** Statements on the rows of one table. */
function createStatements<T extends RecordTable>(records: Records, queries: Queries<T>, conflict: ProblemFactory) {
  const { name, select, applyWhere } = queries;
  const translateOwnConflict = <R>(work: Promise<R>) => translateConflict(work, conflict);
  return {
    insertRow: (row: DocumentRow) =>
      translateOwnConflict(
        records.db
          .insertInto(name)
          .values(row as never)
          .returning('id')
          .executeTakeFirstOrThrow(),
      ),

    async updateRow(where: Match<T>, row: DocumentRow): Promise<boolean> {
      let query = records.db.updateTable(name).set(row as never);
      for (const [column, value] of Object.entries(where)) query = query.where(column as never, '=', value as never);
      return (await translateOwnConflict(query.executeTakeFirst())).numUpdatedRows > 0n;
    },

    async deleteRows(where: Match<T>): Promise<boolean> {
      let query = records.db.deleteFrom(name);
      for (const [column, value] of Object.entries(where)) query = query.where(column as never, '=', value as never);
      return (await query.executeTakeFirst()).numDeletedRows > 0n;
    },

    /** Matching rows, locked until the end of the transaction. */
    async lockRows(where: Match<T>): Promise<DocumentRow[]> {
      const query = applyWhere(select(), where).select('id');
      const found = await (records.engine === 'postgres' ? query.forUpdate() : query).execute();
      return found as unknown as DocumentRow[];
    },
  };
}

type Writes<T extends RecordTable, Doc> = ReturnType<typeof createWrites<T, Doc>>;

/** Writes that maintain the search index in the same transaction. */
function withSearchIndex<T extends RecordTable, Doc>(
  records: Records,
  { name, applyWhere }: Queries<T>,
  writes: Writes<T, Doc>,
  { kind, toEntry, toColumns }: SearchIndexing<Doc> & { toColumns(doc: Doc): object },
): Writes<T, Doc> {
  const index = (doc: Doc) => {
    const { id, org_id } = toColumns(doc) as { id: string; org_id: string };
    return writeSearchEntry(records, kind, { orgId: org_id, object: id }, toEntry(doc));
  };
  return {
    ...writes,
    insert: doc =>
      records.write(async () => {
        await writes.insert(doc);
        await index(doc);
      }),
    replace: (where, doc) =>
      records.write(async () => {
        const isReplaced = await writes.replace(where, doc);
        if (isReplaced) await index(doc);
        return isReplaced;
      }),
    change: (where, change) =>
      records.write(async () => {
        const next = await writes.change(where, change);
        if (next !== undefined) await index(next);
        return next;
      }),
    remove: where =>
      records.write(async () => {
        const ids = applyWhere(records.db.selectFrom(name).select('id') as unknown as Query, where);
        await records.db
          .deleteFrom('search_names')
          .where('kind', '=', kind)
          .where('object', 'in', ids as never)
          .execute();
        return writes.remove(where);
      }),
  };
}

/** Translates a unique violation into the store's own problem. */
export async function translateConflict<R>(work: Promise<R>, conflict: ProblemFactory): Promise<R> {
  try {
    return await work;
  } catch (error) {
    if (toDatabaseProblem(error)?.code === problem.conflict.code) throw conflict({ cause: error });
    throw error;
  }
}

/** LIKE with `%` and `_` escaped: `column` contains `text`. */
export const columnContains = (column: string, text: string): Expression<SqlBool> =>
  sql<SqlBool>`${sql.ref(column)} like ${toContainsPattern(text)} escape '\\'`;

/** Pattern of LIKE for a text that contains this one, with the escape character `\\`. */
export const toContainsPattern = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** Condition of a list: a name of the row in the search index contains the text, case-insensitive. */
export const hasNameWith = (kind: SearchKind, orgId: string, text: string): Expression<SqlBool> =>
  sql<SqlBool>`id in (select object from search_names where org_id = ${orgId} and kind = ${kind}
    and ${columnContains('text', text.toLowerCase())})`;

/** LIKE with `%` and `_` escaped: `column` ends with `text`. */
export const columnEndsWith = (column: string, text: string): Expression<SqlBool> =>
  sql<SqlBool>`${sql.ref(column)} like ${`%${text.replaceAll(/[\\%_]/g, '\\$&')}`} escape '\\'`;
