import { type QueryCache, useQueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { Button } from './button.tsx';
import { TimeText } from './time-text.tsx';

const bannerClass =
  'mb-4 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-control border border-warning-line bg-warning-soft px-3 ' +
  'py-1 text-warning';

/** Shown reads whose repetition failed: their old data stays on the page. */
const listStale = (cache: QueryCache) =>
  cache.getAll().filter(it => it.isActive() && it.state.status === 'error' && it.state.data !== undefined);

/** The oldest data as a text, which changes only with it: time and reason. */
function describeStale(cache: QueryCache): string {
  const [oldest] = listStale(cache).toSorted((one, other) => one.state.dataUpdatedAt - other.state.dataUpdatedAt);
  return oldest ? `${oldest.state.dataUpdatedAt} ${oldest.state.error?.message ?? ''}` : '';
}

/** Banner of a page whose data could not be updated: the reason, the age of the oldest data, and another try. */
export function StaleBanner() {
  const client = useQueryClient();
  const cache = client.getQueryCache();
  const subscribe = useCallback((onChange: () => void) => cache.subscribe(onChange), [cache]);
  const stale = useSyncExternalStore(subscribe, () => describeStale(cache));
  if (stale === '') return null;
  const [updatedAtMs = '', ...reason] = stale.split(' ');
  const retry = () =>
    void client.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
  return (
    <div role="status" className={bannerClass}>
      <span className="mr-auto">
        {sharedTexts.kit.notUpdated(reason.join(' '))} <TimeText time={Math.floor(Number(updatedAtMs) / 1000)} />
      </span>
      <Button kind="quiet" onClick={retry}>
        {sharedTexts.kit.retry}
      </Button>
    </div>
  );
}
