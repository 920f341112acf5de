import { useSearch } from '@tanstack/react-router';
import { FilterSelect } from '../../kit/field.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';
import { useListChange } from '../list-search.ts';
import { ListToolbar } from '../list-toolbar.tsx';
import { ApiSelect } from '../monitor/api-select.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { nameHook } from './hook-draft.ts';

const own = texts.deliveries;

/** Deliveries of all webhooks. */
export function DeliveryListPage() {
  const { q = '', p = 1, sort: _sort, ...filters } = useSearch({ from: '/shell/deliveries' });
  const { change, onSearch } = useListChange();
  const hooks = useOperation('GET /api/hooks', { query: { p: -1 } });
  const hookOptions = (hooks.data?.value.hooks ?? []).map(hook => ({ value: hook.id, label: nameHook(hook) }));
  const isKnown = !filters.hook_id || hookOptions.some(({ value }) => value === filters.hook_id);
  return (
    <PageFrame title={own.title}>
      <DeliveryList
        filters={{ ...filters, ...(q ? { event: q } : {}) }}
        p={p}
        isFiltered={q !== '' || Object.keys(filters).length > 0}
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
          </ListToolbar>
        }
      />
    </PageFrame>
  );
}
