import type { UsageRow } from '#storage/analytics-tables.ts';
import type { CallRecord } from './batch.ts';
import { normalisedPath } from './paths.ts';
import { count, type Dimensions, digestOf, emptyRow, merge, minuteMs, nameOf, otherName } from './usage-rows.ts';

export interface RollUpOptions {
  /** Rows of one API in one minute, before paths are counted together. As many again before keys are. */
  readonly rowsPerMinute: number;
  readonly normalisePaths: boolean;
  /** Rows held while they cannot be written. */
  readonly rowsHeld?: number;
}

const rowsHeldUnlessSaid = 50_000;
/** Minutes whose rows are remembered, so that the bound holds for all of the minute however often it is written. */
const minutesRemembered = 2;

/** Adds calls up by the minute, within bounds. What it holds is what was not written yet. */
export function rollUp({ rowsPerMinute, normalisePaths, rowsHeld = rowsHeldUnlessSaid }: RollUpOptions) {
  let rows = new Map<string, UsageRow>();
  /** The names of rows by API and minute, written or not. */
  const named = new Map<string, { readonly minute: number; readonly names: Set<string> }>();
  const totals = { records: 0, folded: 0, lost: 0 };

  function dimensionsOf(record: CallRecord): Dimensions {
    const at = record.number('atMs');
    const path = record.word('path');
    return {
      minute: at - (at % minuteMs),
      org_id: record.api.orgId,
      api_id: record.api.id,
      version: record.word('version'),
      key_hash: record.word('keyHash'),
      oauth_id: record.word('oauthId'),
      path: normalisePaths ? normalisedPath(path) : path,
      status: record.number('status'),
      refusal: record.word('refusal'),
    };
  }

  /** The dimensions the call is counted under: its own while there is room. */
  function admitted(own: Dimensions): Dimensions {
    const place = `${own.minute}/${own.api_id}`;
    let known = named.get(place);
    if (!known) {
      known = { minute: own.minute, names: new Set() };
      named.set(place, known);
    }
    const { names } = known;
    const withoutPath = { ...own, path: otherName };
    const withoutCaller = { ...withoutPath, key_hash: otherName, oauth_id: '' };
    const choices: [Dimensions, number][] = [
      [own, rowsPerMinute],
      [withoutPath, 2 * rowsPerMinute],
      [withoutCaller, Number.POSITIVE_INFINITY],
    ];
    const [chosen] = choices.find(([it, most]) => names.has(nameOf(it)) || names.size < most)!;
    names.add(nameOf(chosen));
    if (chosen !== own) totals.folded++;
    return chosen;
  }

  function add(record: CallRecord): void {
    totals.records++;
    const own = dimensionsOf(record);
    const fast = rows.get(nameOf(own));
    if (fast) return count(fast, record);
    const dimensions = admitted(own);
    const name = nameOf(dimensions);
    const known = rows.get(name);
    if (known) return count(known, record);
    if (rows.size >= rowsHeld) {
      totals.lost++;
      return;
    }
    const { retentionSeconds } = record.api;
    const expiresAt = retentionSeconds > 0 ? dimensions.minute + minuteMs + retentionSeconds * 1000 : 0;
    const row = emptyRow(dimensions, expiresAt);
    rows.set(name, row);
    count(row, record);
  }

  return {
    add,
    totals,
    /** What was counted since the last time, in the same order everywhere: two that write the same rows take turns. */
    take(nowMs: number): UsageRow[] {
      const oldest = nowMs - minutesRemembered * minuteMs;
      for (const [place, { minute }] of named) if (minute < oldest) named.delete(place);
      const taken = [...rows].map(([name, row]) => ({ ...row, id: digestOf(name) }));
      rows = new Map();
      return taken.sort((a, b) => a.minute - b.minute || (a.id < b.id ? -1 : 1));
    },
    /** Takes back what could not be written. */
    putBack(taken: readonly UsageRow[]): void {
      for (const row of taken) {
        const known = rows.get(nameOf(row));
        if (known) merge(known, row);
        else if (rows.size < rowsHeld) rows.set(nameOf(row), row);
        else totals.lost += row.hits;
      }
    },
  };
}
