import { useSearch } from '@tanstack/react-router';
import { FilterSelect } from '../../kit/field.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';
import { ApiSelect } from '../monitor/api-select.tsx';
import { RangeSelect } from '../monitor/range-select.tsx';
import { type TimeRange, useTimeRange } from '../monitor/time-range.ts';
import { DeliveryList } from './delivery-list.tsx';
import { nameHook } from './hook-draft.ts';

const own = texts.deliveries;

/** A relative range has no end, so that later deliveries are included. */
const toTimeFilter = ({ start, end, name }: TimeRange) => ({ start, ...(name === undefined ? { end } : {}) });

/** Deliveries of all webhooks. */
export function DeliveryListPage() {
  const search = useSearch({ from: '/shell/deliveries' });
  const { q = '', p = 1, sort: _sort, range: _range, start: _start, end: _end, ...filters } = search;
  const { change, onSearch } = useListChange();
  const { range } = useTimeRange(search);
  const hasRange = Boolean(search.range || search.start);
  const hooks = useOperation('GET /api/hooks', { query: { p: -1 } });
  const hookOptions = (hooks.data?.value.hooks ?? []).map(hook => ({ value: hook.id, label: nameHook(hook) }));
  const isKnown = !filters.hook_id || hookOptions.some(({ value }) => value === filters.hook_id);
  return (
    <PageFrame title={own.title}>
      <DeliveryList
        filters={{ ...filters, ...(q ? { event: q } : {}), ...(hasRange ? toTimeFilter(range) : {}) }}
        p={p}
        isFiltered={q !== '' || hasRange || Object.keys(filters).length > 0}
        toolbar={
          <ListToolbar label={own.searchLabel} placeholder={own.search} value={q} onSearch={onSearch}>
            <FilterSelect
              label={own.anyState}
              value={filters.state ?? ''}
              onChange={event => change({ state: event.target.value })}
              options={[
                { value: '', label: own.anyState },
                ...Object.entries(own.states).map(([value, label]) => ({ value, label })),
              ]}
            />
            <FilterSelect
              label={own.columns.hook}
              className="max-w-56"
              value={filters.hook_id ?? ''}
              onChange={event => change({ hook_id: event.target.value })}
              options={[
                { value: '', label: own.anyHook },
                ...(isKnown ? [] : [{ value: filters.hook_id ?? '', label: filters.hook_id ?? '' }]),
                ...hookOptions,
              ]}
            />
            <ApiSelect apiId={filters.api_id ?? ''} onChange={api_id => change({ api_id })} />
            <RangeSelect range={hasRange ? range : undefined} anyLabel={own.anyTime} onChange={change} />
          </ListToolbar>
        }
      />
    </PageFrame>
  );
}
