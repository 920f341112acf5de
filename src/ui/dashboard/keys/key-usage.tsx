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

/** Requests with a key in the last days, and the last of them; undefined until they are known. */
function useKeyCount({ hash, hashes }: KeyUsageProps, days: number) {
  const end = Math.ceil(nowMs() / 1000 / hourSeconds) * hourSeconds;
  const pages = useBatchedOperation('GET /api/usage', hashes, keys => ({
    query: { keys, start: end - days * daySeconds, end, group_by: 'key', p: -1 },
  }));
  if (!pages) return undefined;
  const found = pages.flatMap(({ data }) => data).find(({ id }) => id.key === hash.toLowerCase());
  return { hits: found?.hits ?? 0, lastHit: found?.last_hit };
}

export function KeyCallCount(props: KeyUsageProps) {
  const count = useKeyCount(props, 1);
  return count && <span className="tabular-nums">{formatNumber(count.hits)}</span>;
}

export function KeyLastUse(props: KeyUsageProps) {
  const count = useKeyCount(props, lastUsedDays);
  if (!count) return null;
  return count.lastHit ? <TimeText time={count.lastHit} /> : <span className="text-dim">{own.unused}</span>;
}
