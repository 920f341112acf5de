import { nowMs } from '../../../kit/browser-clock.ts';
import { formatNumber, formatPercent } from '../../../kit/format.ts';
import { useOperation } from '../../../kit/queries.ts';

/** Row with the ids of its neighbours: one request counts them together. */
export interface CountedRow {
  readonly id: string;
  readonly neighbours: string;
}

/** Bound of the server for the ids of one request. */
const maxIdsPerRequest = 100;
const hourSeconds = 3600;
const hours = 24;
const refreshMs = 30_000;

/** Adds to each row the ids that are counted with it. */
export const withNeighbours = <Row extends { readonly id: string }>(rows: readonly Row[]): (Row & CountedRow)[] =>
  rows.map((row, place) => {
    const first = place - (place % maxIdsPerRequest);
    const ids = rows.slice(first, first + maxIdsPerRequest).map(({ id }) => id);
    return { ...row, neighbours: ids.join(',') };
  });

/** Requests of the last 24 hours; equal reads of neighbouring cells share one request. */
function useApiUsage({ id, neighbours }: CountedRow) {
  const end = Math.ceil(nowMs() / 1000 / hourSeconds) * hourSeconds;
  const query = { api_ids: neighbours, start: end - hours * hourSeconds, end, group_by: 'api_id', p: -1 };
  const { data } = useOperation('GET /api/usage', { query }, { keepPrevious: true, refetchIntervalMs: refreshMs });
  if (!data) return undefined;
  const found = data.value.data.find(it => it.id.api_id === id);
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
