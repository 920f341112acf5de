import { AsyncLocalStorage } from 'node:async_hooks';
import { Problem } from '#base/problems.ts';
import { vaultProblem } from '#base/vault.ts';

/** Rows left out of one response, by id, each with the reason. */
export type UnreadableRows = Map<string, string>;

const collecting = new AsyncLocalStorage<UnreadableRows>();

/**
 * Partial lists: inside `work`, lists leave out rows whose secret was sealed with another key, and put them into
 * `unreadable`. Anywhere else, and where such a row is read by itself, it is an error.
 */
export const collectUnreadableRows = <T>(unreadable: UnreadableRows, work: () => Promise<T>): Promise<T> =>
  collecting.run(unreadable, work);

/** Opens a row of a list; undefined where it is left out. */
export function openRow<Row, Doc>(
  row: Row,
  open: (row: Row) => Doc,
  idOf: (row: Row) => string | number,
): Doc | undefined {
  try {
    return open(row);
  } catch (error) {
    const unreadable = collecting.getStore();
    if (!unreadable || !(error instanceof Problem) || error.code !== vaultProblem.cannot_open.code) throw error;
    unreadable.set(String(idOf(row)), error.message);
    return undefined;
  }
}

/** Opens the rows of a list, without those that cannot be read. */
export function openRows<Row, Doc>(
  rows: readonly Row[],
  open: (row: Row) => Doc,
  idOf: (row: Row) => string | number,
): Doc[] {
  return rows.map(row => openRow(row, open, idOf)).filter(doc => doc !== undefined);
}
