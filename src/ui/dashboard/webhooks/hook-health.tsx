import { useCallback, useMemo } from 'react';
import { StatusPill, type Tone } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { webhookTexts } from '../../texts/en/webhooks.ts';

const own = webhookTexts;
const tones = { unused: 'neutral', ok: 'success', retrying: 'warning', failing: 'danger' } as const satisfies Record<
  string,
  Tone
>;
/** Queues move while the page is open. */
const refetchIntervalMs = 10_000;

export type HookHealth = ResultOf<'GET /api/hooks/health'>['hooks'][number];

export const useHookHealth = (hookId: string) =>
  useOperation('GET /api/hooks/{hookId}/health', { params: { hookId } }, { refetchIntervalMs });

/** Health of all webhooks of a page of the list in one read; undefined until it is there. */
export function useHealthOfPage(p: number): (hookId: string) => HookHealth | undefined {
  const { data } = useOperation('GET /api/hooks/health', { query: { p } }, { refetchIntervalMs, keepPrevious: true });
  const byHook = useMemo(() => new Map(data?.value.hooks.map(it => [it.hook_id, it])), [data]);
  return useCallback(hookId => byHook.get(hookId), [byHook]);
}

export const HookState = ({ health }: { health: HookHealth | undefined }) =>
  health ? <StatusPill tone={tones[health.state]}>{own.healthStates[health.state]}</StatusPill> : null;

/** Share of the last day that was delivered. */
export function HookSuccess({ health }: { health: HookHealth | undefined }) {
  if (!health) return null;
  const { delivered_24h: delivered, failed_24h: failed } = health;
  if (delivered + failed === 0) return <span className="text-dim">–</span>;
  return own.ofTotal(formatNumber(delivered), formatNumber(delivered + failed));
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
          [own.columns.success, <HookSuccess key="success" health={query.data.value} />],
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
