import { useSearch } from '@tanstack/react-router';
import { Badge } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { MarkedText } from '../../kit/marked-text.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { systemTexts } from '../../texts/en/system.ts';

const own = systemTexts;
type SettingItem = ResultOf<'GET /api/system/settings'>['settings'][number];

/** Value of the filter in the address: a digit would be quoted there. */
const changedOnly = 'only';
const formatValue = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

const columns: readonly Column<SettingItem>[] = [
  {
    id: 'name',
    title: own.settingColumns.name,
    cell: ({ name, about }) => (
      <span className="flex flex-col">
        <code className="font-mono text-small break-all">{name}</code>
        <span className="text-small text-dim">
          <MarkedText text={about} />
        </span>
      </span>
    ),
  },
  {
    id: 'value',
    title: own.settingColumns.value,
    cell: ({ value }) => <code className="block min-w-32 font-mono text-small break-words">{formatValue(value)}</code>,
  },
  {
    id: 'source',
    title: own.settingColumns.source,
    cell: ({ source }) => <Badge tone={source === 'default' ? 'neutral' : 'info'}>{own.settingSources[source]}</Badge>,
  },
];

/** Settings of the process that responds, with secrets masked; text and filter are in the address. */
export function SettingsCard() {
  const { q = '', changed = '' } = useSearch({ from: '/shell/system' });
  const { change, onSearch, clear } = useListChange();
  const read = useOperation(
    'GET /api/system/settings',
    { query: { q, changed: changed === changedOnly ? '1' : '0' } },
    { keepPrevious: true },
  );
  const settings = read.isError ? undefined : read.data?.value.settings;
  return (
    <Card title={own.settings}>
      <div className="flex flex-col gap-3">
        <ListToolbar label={own.searchSettings} placeholder={own.searchSettings} value={q} onSearch={onSearch}>
          <FilterSelect
            label={own.settingFilter}
            value={changed}
            onChange={event => change({ changed: event.target.value })}
            options={[
              { value: '', label: own.allSettings },
              { value: changedOnly, label: own.changedSettings },
            ]}
          />
        </ListToolbar>
        {settings === undefined ? (
          <QueryState query={read} lines={4} />
        ) : (
          <div className="max-h-[70dvh] overflow-y-auto">
            <DataTable
              label={own.settings}
              rows={settings}
              columns={columns}
              idOf={({ name }) => name}
              nameOf={({ name }) => name}
              onClearFilters={clear}
            />
          </div>
        )}
      </div>
    </Card>
  );
}
