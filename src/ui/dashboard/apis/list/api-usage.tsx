import { nowMs } from '../../../kit/browser-clock.ts';
import { formatNumber, formatPercent } from '../../../kit/format.ts';
import { useBatchedOperation } from '../../../kit/queries.ts';

/** Row with the ids of all rows: the server counts them together. */
export interface CountedRow {
  readonly id: string;
  readonly neighbours: readonly string[];
}

const hourSeconds = 3600;
const hours = 24;
const refreshMs = 30_000;

/** Adds to each row the ids that are counted with it. */
export function withNeighbours<Row extends { readonly id: string }>(rows: readonly Row[]): (Row & CountedRow)[] {
  const neighbours = rows.map(({ id }) => id);
  return rows.map(row => ({ ...row, neighbours }));
}

/** Requests of the last 24 hours; equal reads of neighbouring cells share their requests. */
function useApiUsage({ id, neighbours }: CountedRow) {
  const end = Math.ceil(nowMs() / 1000 / hourSeconds) * hourSeconds;
  const pages = useBatchedOperation(
    'GET /api/usage',
    neighbours,
    api_ids => ({ query: { api_ids, start: end - hours * hourSeconds, end, group_by: 'api_id', p: -1 } }),
    { refetchIntervalMs: refreshMs },
  );
  if (!pages) return undefined;
  const found = pages.flatMap(({ data }) => data).find(it => it.id.api_id === id);
  return { hits: found?.hits ?? 0, errors: found?.error ?? 0 };
}

export function CallCount(row: CountedRow) {
  const usage = useApiUsage(row);
  return usage && <span className="tabular-nums">{formatNumber(usage.hits)}</span>;
}

/** Share of failed requests; empty without requests. */
export function ErrorShare(row: CountedRow) {
  const usage = useApiUsage(row);
  if (!usage || usage.hits === 0) return null;
  return (
    <span className={usage.errors > 0 ? 'text-danger tabular-nums' : 'tabular-nums'}>
      {formatPercent(usage.errors / usage.hits)}
    </span>
  );
}
