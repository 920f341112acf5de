import { StatusPill, type Tone } from '../../kit/badge.tsx';
import { Card, FactList } from '../../kit/card.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.webhooks;
const tones = { unused: 'neutral', ok: 'success', retrying: 'warning', failing: 'danger' } as const satisfies Record<
  string,
  Tone
>;
/** Queues move while the page is open. */
const refetchIntervalMs = 10_000;

export const useHookHealth = (hookId: string) =>
  useOperation('GET /api/hooks/{hookId}/health', { params: { hookId } }, { refetchIntervalMs });

export function HookState({ hookId }: { hookId: string }) {
  const { data } = useHookHealth(hookId);
  if (!data) return null;
  const { state } = data.value;
  return <StatusPill tone={tones[state]}>{own.healthStates[state]}</StatusPill>;
}

/** Share of the last day that was delivered. */
export function HookSuccess({ hookId }: { hookId: string }) {
  const { data } = useHookHealth(hookId);
  if (!data) return null;
  const { delivered_24h: delivered, failed_24h: failed } = data.value;
  if (delivered + failed === 0) return <span className="text-dim">–</span>;
  return own.ofTotal(formatNumber(delivered), formatNumber(delivered + failed));
}

export function HookQueue({ hookId }: { hookId: string }) {
  const { data } = useHookHealth(hookId);
  return data ? formatNumber(data.value.pending) : null;
}

export function HookLastSuccess({ hookId }: { hookId: string }) {
  const { data } = useHookHealth(hookId);
  return data ? <TimeText time={data.value.last_success_at ?? undefined} /> : null;
}

/** State of the queue of one webhook. */
export function HealthCard({ hookId }: { hookId: string }) {
  const query = useHookHealth(hookId);
  if (!query.data) return <QueryState query={query} lines={3} />;
  const { pending, failed, last_success_at, last_error, next_attempt_at } = query.data.value;
  return (
    <Card title={own.health}>
      <FactList
        rows={[
          [own.columns.success, <HookSuccess key="success" hookId={hookId} />],
          [own.pending, formatNumber(pending)],
          [own.dead, formatNumber(failed)],
          [own.lastSuccess, <TimeText key="last" time={last_success_at ?? undefined} />],
          [own.nextAttempt, next_attempt_at ? <TimeText key="next" time={next_attempt_at} /> : '–'],
          [
            own.lastError,
            last_error ? (
              <span key="error">
                <TimeText time={last_error.at} />: {last_error.message || last_error.status}
              </span>
            ) : (
              '–'
            ),
          ],
        ]}
      />
    </Card>
  );
}
