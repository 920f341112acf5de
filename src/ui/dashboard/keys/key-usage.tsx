import { nowMs } from '../../kit/browser-clock.ts';
import { formatNumber } from '../../kit/format.ts';
import { useBatchedOperation } from '../../kit/queries.ts';
import { TimeText } from '../../kit/time-text.tsx';
import { keyUsageTexts as own } from '../../texts/en/key-usage.ts';

const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;
/** Days in which the last request of a key is looked for. */
const lastUsedDays = 30;

interface KeyUsageProps {
  readonly hash: string;
  /** Hashes of the page: one request counts them together, and equal reads of its cells share it. */
  readonly hashes: readonly string[];
}

/** Requests with a key in the last days. */
function useKeyCount({ hash, hashes }: KeyUsageProps, days: number) {
  const end = Math.ceil(nowMs() / 1000 / hourSeconds) * hourSeconds;
  const pages = useBatchedOperation('GET /api/usage', hashes, keys => ({
    query: { keys, start: end - days * daySeconds, end, group_by: 'key', p: -1 },
  }));
  return pages.flatMap(({ data }) => data).find(({ id }) => id.key === hash.toLowerCase());
}

export function KeyCallCount(props: KeyUsageProps) {
  return <span className="tabular-nums">{formatNumber(useKeyCount(props, 1)?.hits ?? 0)}</span>;
}

export function KeyLastUse(props: KeyUsageProps) {
  const found = useKeyCount(props, lastUsedDays);
  return found ? <TimeText time={found.last_hit} /> : <span className="text-dim">{own.unused}</span>;
}
