import { type ReactNode, useCallback, useRef, useState } from 'react';
import { FilterSelect } from '../../kit/field.tsx';
import { FilterText } from '../../kit/filter-text.tsx';
import { texts } from '../../texts/texts.ts';
import { ApiSelect } from '../monitor/api-select.tsx';
import { RangeSelect } from '../monitor/range-select.tsx';
import type { TimeRange } from '../monitor/time-range.ts';
import { toKeyFilter } from './key-text.ts';
import type { LogSearch } from './log-filters.ts';

const own = texts.logs;
export const errorsOnly = 'only';

interface LogToolbarProps {
  readonly search: LogSearch;
  /** Absent in the live tail. */
  readonly range?: TimeRange;
  /** Columns and saved views. */
  readonly menus?: ReactNode;
  onChange(change: Readonly<Record<string, string | undefined>>): void;
}

/** Filters of requests, in the address. */
export function LogToolbar({ search, range, menus, onChange }: LogToolbarProps) {
  const setStatus = useCallback((status: string) => onChange({ status: status.replace(/\D/g, '') }), [onChange]);
  const { setKey, keyFault } = useKeyFilter(onChange);
  const setTags = useCallback((tags: string) => onChange({ tags }), [onChange]);
  return (
    <search className="flex flex-wrap items-center gap-2">
      {range && <RangeSelect range={range} onChange={onChange} />}
      <ApiSelect apiId={search.api_id ?? ''} onChange={api_id => onChange({ api_id })} />
      <FilterSelect
        label={own.outcome}
        value={search.errors ? errorsOnly : ''}
        onChange={event => onChange({ errors: event.target.value })}
        options={[
          { value: '', label: own.anyOutcome },
          { value: errorsOnly, label: own.onlyErrors },
        ]}
      />
      <FilterText label={own.status} inputMode="numeric" value={search.status ?? ''} onChange={setStatus} />
      <FilterText label={own.key} value={search.key ?? ''} onChange={setKey} />
      <FilterText label={own.tags} value={search.tags ?? ''} onChange={setTags} />
      {menus}
      {keyFault && (
        <p role="status" className="basis-full text-warning">
          {keyFault}
        </p>
      )}
    </search>
  );
}

/** Applies the key of the last text: a whole key is looked up before the address has its hash. */
function useKeyFilter(onChange: LogToolbarProps['onChange']) {
  const [keyFault, setKeyFault] = useState('');
  const lookups = useRef(0);
  const setKey = useCallback(
    async (text: string) => {
      const lookup = ++lookups.current;
      const found = await toKeyFilter(text).catch((error: Error) => error);
      if (lookup !== lookups.current) return;
      const isFilter = typeof found === 'string';
      setKeyFault(isFilter ? '' : (found?.message ?? own.keyUnknown));
      if (isFilter) onChange({ key: found });
    },
    [onChange],
  );
  return { setKey, keyFault };
}
