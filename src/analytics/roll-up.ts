import type { UsageRow } from '#storage/analytics-tables.ts';
import type { CallRecord } from './batch.ts';
import { normalisePath } from './paths.ts';
import {
  countCall,
  createUsageRow,
  type Dimensions,
  digestRowName,
  mergeUsageRow,
  minuteMs,
  otherName,
  rowNameOf,
} from './usage-rows.ts';

export interface UsageRollUpOptions {
  /** Rows of one API and minute before paths are folded; twice as many before keys are. */
  readonly rowsPerMinute: number;
  readonly normalisePaths: boolean;
  /** Bound of unwritten rows. */
  readonly maxPendingRows?: number;
}

const defaultMaxPendingRows = 50_000;
/** Minutes whose row names are tracked, so that the bound holds across several writes of one minute. */
const trackedMinutes = 2;

/** Rolls up calls by minute within bounds. Holds only unwritten rows. */
export function createUsageRollUp({
  rowsPerMinute,
  normalisePaths,
  maxPendingRows = defaultMaxPendingRows,
}: UsageRollUpOptions) {
  let rows = new Map<string, UsageRow>();
  const cardinality = createCardinalityLimit(rowsPerMinute);
  const totals = { records: 0, folded: 0, lost: 0 };

  function add(record: CallRecord): void {
    totals.records++;
    const own = readDimensions(record, normalisePaths);
    const fast = rows.get(rowNameOf(own));
    if (fast) return countCall(fast, record);
    const dimensions = cardinality.limit(own);
    if (dimensions !== own) totals.folded++;
    const name = rowNameOf(dimensions);
    const known = rows.get(name);
    if (known) return countCall(known, record);
    if (rows.size >= maxPendingRows) {
      totals.lost++;
      return;
    }
    const { retentionSeconds } = record.api;
    const expiresAt = retentionSeconds > 0 ? dimensions.minute + minuteMs + retentionSeconds * 1000 : 0;
    const row = createUsageRow(dimensions, expiresAt);
    rows.set(name, row);
    countCall(row, record);
  }

  return {
    add,
    totals,
    /** Drains unwritten rows, sorted: a common lock order prevents deadlocks between processes. */
    drain(nowMs: number): UsageRow[] {
      cardinality.deleteBefore(nowMs - trackedMinutes * minuteMs);
      const drained = [...rows].map(([name, row]) => ({ ...row, id: digestRowName(name) }));
      rows = new Map();
      return drained.sort((a, b) => a.minute - b.minute || (a.id < b.id ? -1 : 1));
    },
    /** Restores rows after a failed write. */
    restore(unwritten: readonly UsageRow[]): void {
      for (const row of unwritten) {
        const pending = rows.get(rowNameOf(row));
        if (pending) mergeUsageRow(pending, row);
        else if (rows.size < maxPendingRows) rows.set(rowNameOf(row), row);
        else totals.lost += row.hits;
      }
    },
  };
}

function readDimensions(record: CallRecord, normalisePaths: boolean): Dimensions {
  const at = record.number('atMs');
  const path = record.word('path');
  return {
    minute: at - (at % minuteMs),
    org_id: record.api.orgId,
    api_id: record.api.id,
    version: record.word('version'),
    key_hash: record.word('keyHash'),
    oauth_id: record.word('oauthId'),
    path: normalisePaths ? normalisePath(path) : path,
    status: record.number('status'),
    refusal: record.word('refusal'),
  };
}

/** Cardinality limit: folds the path, then key and client, into `other` once an API has too many rows. */
function createCardinalityLimit(rowsPerMinute: number) {
  /** Row names by API and minute, written or not. */
  const namesByApiMinute = new Map<string, { readonly minute: number; readonly names: Set<string> }>();

  function limit(own: Dimensions): Dimensions {
    const key = `${own.minute}/${own.api_id}`;
    let entry = namesByApiMinute.get(key);
    if (!entry) {
      entry = { minute: own.minute, names: new Set() };
      namesByApiMinute.set(key, entry);
    }
    const { names } = entry;
    const withoutPath = { ...own, path: otherName };
    const withoutCaller = { ...withoutPath, key_hash: otherName, oauth_id: '' };
    const choices: [Dimensions, number][] = [
      [own, rowsPerMinute],
      [withoutPath, 2 * rowsPerMinute],
      [withoutCaller, Number.POSITIVE_INFINITY],
    ];
    const [chosen] = choices.find(([it, maxNames]) => names.has(rowNameOf(it)) || names.size < maxNames)!;
    names.add(rowNameOf(chosen));
    return chosen;
  }

  return {
    /** The dimensions themselves, or folded ones. */
    limit,
    deleteBefore(oldest: number): void {
      for (const [place, { minute }] of namesByApiMinute) if (minute < oldest) namesByApiMinute.delete(place);
    },
  };
}
