import { Link, useSearch } from '@tanstack/react-router';
import { ChartSpline, Download, RefreshCw, SearchX, X } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import { Switch } from '../../kit/field.tsx';
import { FilterText } from '../../kit/filter-text.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useListChange } from '../../kit/list-search.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { usageViewTexts as more } from '../../texts/en/usage-views.ts';
import { texts } from '../../texts/texts.ts';
import { ApiSelect } from '../monitor/api-select.tsx';
import { RangeSelect } from '../monitor/range-select.tsx';
import { useTimeRange } from '../monitor/time-range.ts';
import { useNarrowedAnalytics, usePermission } from '../session/session.ts';
import { useEarlierUsage } from './earlier-usage.ts';
import { useMarkedChanges } from './marked-changes.tsx';
import { ErrorReasons, TopApis, TopKeys, TopTags } from './top-tables.tsx';
import { LatencyChart, TrafficChart, UsageFigures } from './usage-charts.tsx';
import { toLogSearch, toUsageCsvAddress, toUsageQuery, toUsageScope, type UsageScope } from './usage-filters.ts';
import { sumUsage } from './usage-series.ts';
import { EndpointTable, VersionTable } from './usage-table.tsx';
import { WeekHeatMap } from './week-heat-map.tsx';

const own = texts.analytics;
const defaultRange = '24h';

/** Counts of requests: over time, by API, key and reason of errors. Range and filters are in the address. */
export function AnalyticsPage() {
  const search = useSearch({ from: '/shell/analytics' });
  const { change } = useListChange();
  const { range, refresh } = useTimeRange({ range: defaultRange, ...search });
  const { start, end } = range;
  const { api_id = '', key = '', tags = '', tab, compare } = search;
  const isNarrowed = useNarrowedAnalytics();
  const view = listViews(isNarrowed).find(id => id === tab) ?? 'overview';
  const setTags = useCallback((next: string) => change({ tags: next }), [change]);
  const scope = useMemo(
    () => toUsageScope({ api_id, key, tags }, { start, end, name: undefined }),
    [api_id, key, tags, start, end],
  );
  return (
    <PageFrame title={own.title} actions={<Actions scope={scope} onRefresh={refresh} />}>
      <div className="flex flex-col gap-4">
        <search className="flex flex-wrap items-center gap-2">
          <RangeSelect range={range} onChange={change} />
          <ApiSelect apiId={api_id} onChange={next => change({ api_id: next })} />
          {key && (
            <Button icon={X} aria-label={own.removeFilter} onClick={() => change({ key: undefined })}>
              <span className="max-w-48 truncate font-mono text-small">{own.keyFilter(key)}</span>
            </Button>
          )}
          {view === 'overview' && (
            <Switch
              label={more.compare}
              checked={compare !== undefined}
              onChange={event => change({ compare: event.target.checked ? 'previous' : undefined })}
            />
          )}
          {!isNarrowed && <FilterText label={texts.logs.tags} value={tags} onChange={setTags} />}
        </search>
        <Tabs
          label={more.views}
          items={listViews(isNarrowed).map(id => ({ id, label: more.tabs[id] }))}
          current={view}
        />
        <View name={view} scope={scope} isCompared={compare !== undefined} />
      </div>
    </PageFrame>
  );
}

function Actions({ scope, onRefresh }: { scope: UsageScope; onRefresh(): void }) {
  const canReadLogs = usePermission('log');
  return (
    <>
      <a href={toUsageCsvAddress(scope, { res: scope.res })} download="usage.csv" className={buttonClass('secondary')}>
        <Download size={16} strokeWidth={1.5} aria-hidden />
        {own.exportCsv}
      </a>
      <Button icon={RefreshCw} onClick={onRefresh}>
        {texts.logs.refresh}
      </Button>
      {canReadLogs && (
        <Link to="/logs" search={toLogSearch(scope)} className={buttonClass('secondary')}>
          {own.seeRequests}
        </Link>
      )}
    </>
  );
}

interface ViewProps {
  readonly name: keyof typeof more.tabs;
  readonly scope: UsageScope;
  readonly isCompared: boolean;
}

function View({ name, scope, isCompared }: ViewProps) {
  if (name === 'endpoints') return <EndpointTable scope={scope} />;
  if (name === 'versions') return <VersionTable scope={scope} />;
  if (name === 'hours') return <WeekHeatMap scope={scope} />;
  return <Usage scope={scope} isCompared={isCompared} />;
}

/** Counts by path are not for users with `owned_analytics`. */
const listViews = (isNarrowed: boolean): readonly (keyof typeof more.tabs)[] =>
  isNarrowed ? ['overview', 'versions', 'hours'] : ['overview', 'endpoints', 'versions', 'hours'];

function Usage({ scope, isCompared }: { scope: UsageScope; isCompared: boolean }) {
  const { change, clear } = useListChange();
  const isNarrowed = useNarrowedAnalytics();
  const read = useOperation(
    'GET /api/usage',
    { query: toUsageQuery(scope, { res: scope.res, p: -1 }) },
    { keepPrevious: true },
  );
  const earlier = useEarlierUsage(scope, isCompared);
  const changes = useMarkedChanges(scope);
  const items = read.isError ? undefined : read.data?.value.data;
  const totals = useMemo(() => sumUsage(items ?? []), [items]);
  if (!items) return <QueryState query={read} />;
  const totalsBefore = earlier && sumUsage(earlier.items);
  if (totals.requests === 0 && !totalsBefore?.requests)
    return <EmptyUsage isFiltered={Boolean(scope.api_id || scope.key || scope.tags)} onClear={clear} />;
  const dropped = read.data?.value.dropped ?? 0;
  return (
    <>
      {dropped > 0 && <p className="text-warning">{own.dropped(formatNumber(dropped))}</p>}
      <UsageFigures totals={totals} earlier={totalsBefore} />
      <div className="grid gap-4 min-[1100px]:grid-cols-2 *:min-w-0">
        <TrafficChart scope={scope} items={items} totals={totals} earlier={earlier} changes={changes} />
        <LatencyChart scope={scope} />
        <TopApis scope={scope} onNarrow={change} />
        {!isNarrowed && <TopKeys scope={scope} onNarrow={change} />}
        {!isNarrowed && <TopTags scope={scope} onNarrow={change} />}
        <ErrorReasons scope={scope} />
      </div>
    </>
  );
}

const EmptyUsage = ({ isFiltered, onClear }: { isFiltered: boolean; onClear(): void }) =>
  isFiltered ? (
    <Notice
      icon={SearchX}
      title={texts.kit.noMatch}
      action={<Button onClick={onClear}>{texts.kit.clearFilters}</Button>}
    />
  ) : (
    <Notice icon={ChartSpline} title={own.emptyTitle}>
      {own.emptyAbout}
    </Notice>
  );
