import { useMemo } from 'react';
import { useOperation } from '../../kit/queries.ts';
import { toUsageQuery, type UsageCount, type UsageScope } from './usage-filters.ts';

/** The time of the same length just before a scope. */
const toEarlierScope = (scope: UsageScope): UsageScope => ({
  ...scope,
  start: scope.start - (scope.end - scope.start),
  end: scope.start,
});

export interface EarlierUsage {
  readonly scope: UsageScope;
  readonly items: readonly UsageCount[];
}

/** Counts of the time before a scope; undefined while they are not wanted or not read. */
export function useEarlierUsage(scope: UsageScope, isWanted: boolean): EarlierUsage | undefined {
  const earlier = useMemo(() => toEarlierScope(scope), [scope]);
  const read = useOperation(
    'GET /api/usage',
    { query: toUsageQuery(earlier, { res: earlier.res, p: -1 }) },
    { enabled: isWanted },
  );
  const items = isWanted && !read.isError ? read.data?.value.data : undefined;
  return useMemo(() => items && { scope: earlier, items }, [earlier, items]);
}
