import { AsyncLocalStorage } from 'node:async_hooks';
import type { TableName } from './tables.ts';

/** Origin of a change: the caller and its client. */
export interface ChangeAuthor {
  /** Id of the user, or name of the secret; empty for the program itself. */
  readonly id: string;
  readonly name: string;
  readonly surface: string;
  /** Name of the operation. */
  readonly operation: string;
  readonly address: string;
  readonly userAgent: string;
  /** Why the change was made, in words of the author. */
  readonly note?: string | undefined;
}

/** Observes the rows of one table that an operation reads and writes. */
export interface RowObserver {
  readonly table: TableName;
  onRead(body: string): void;
  /**
   * Called inside the transaction, with the row locked, before the row is written: `before` is undefined for an insert,
   * `after` for a removal. Throws to refuse the write.
   */
  onWrite(id: string, before: string | undefined, after: string | undefined): void;
}

/** Name of a written object, and the table that holds it. */
export interface NamedObject {
  readonly name: string;
  readonly table: TableName;
}

/** Context of the operation in progress, for the stores it calls. */
export interface OperationContext {
  readonly author: ChangeAuthor;
  readonly rows?: RowObserver | undefined;
  /** Names of the objects that the operation wrote, by each of their ids. */
  readonly objectNames?: Map<string, NamedObject> | undefined;
}

/** Bounds the names of an operation that writes many objects; those of further ones are left out. */
const maxObjectNames = 1000;
const maxNameCharacters = 200;

const current = new AsyncLocalStorage<OperationContext>();

/** Author of changes outside of any operation: first start, commands on the data directory. */
const programAuthor: ChangeAuthor = {
  id: '',
  name: 'gw',
  surface: 'program',
  operation: '',
  address: '',
  userAgent: '',
};

export const runInOperationContext = <T>(context: OperationContext, work: () => Promise<T>): Promise<T> =>
  current.run(context, work);

export const currentAuthor = (): ChangeAuthor => current.getStore()?.author ?? programAuthor;

/** Notes the name of a written object for the audit record of the operation in progress. */
export function noteObjectName(table: TableName, ids: readonly string[], name: string): void {
  const names = current.getStore()?.objectNames;
  if (!names || name === '' || names.size >= maxObjectNames) return;
  const shortened = name.toWellFormed().slice(0, maxNameCharacters).toWellFormed();
  for (const id of ids) names.set(id, { name: shortened, table });
}

/** Observer of a table; undefined where the operation in progress observes none, or another table. */
export function findRowObserver(table: TableName): RowObserver | undefined {
  const rows = current.getStore()?.rows;
  return rows?.table === table ? rows : undefined;
}
