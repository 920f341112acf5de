import { StatusPill } from '../../../kit/badge.tsx';
import { useOperation } from '../../../kit/queries.ts';
import { texts } from '../../../texts/texts.ts';

const own = texts.apis;
/** A gateway reports a state some time after the change that causes it. */
const refetchIntervalMs = 10_000;

/** Active APIs that are not served, with the reason: one read for all rows. */
export const useUnservedApis = (enabled = true) =>
  useOperation('GET /api/unserved-apis', {}, { enabled, refetchIntervalMs });

/** State of an API in a list: active, inactive, or active and not served, with the reason. */
export function ServedState({ id, isActive }: { readonly id: string; readonly isActive: boolean }) {
  const { data } = useUnservedApis();
  if (!isActive) return <StatusPill tone="neutral">{own.states.inactive}</StatusPill>;
  const unserved = data?.value.apis.find(({ api_id }) => api_id === id);
  if (!unserved) return <StatusPill tone="success">{own.states.active}</StatusPill>;
  return (
    <div className="flex flex-col gap-1">
      <div>
        <StatusPill tone="danger">{own.notServed}</StatusPill>
      </div>
      <span className="max-w-64 text-small break-words text-dim">{unserved.reason}</span>
    </div>
  );
}
