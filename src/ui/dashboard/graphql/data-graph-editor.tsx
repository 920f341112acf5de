import { useMemo, useState } from 'react';
import { Badge, StatusPill } from '../../kit/badge.tsx';
import { Card } from '../../kit/card.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { ListToolbar } from '../../kit/list-toolbar.tsx';
import { graphqlTexts } from '../../texts/en/graphql.ts';
import type { LoadedApi } from '../apis/api-frame.tsx';
import { DefinitionSaveBar } from '../apis/designer/save-bar.tsx';
import { useDefinitionDraft } from '../apis/designer/use-draft.ts';
import type { FormObject } from '../apis/form/json-members.ts';
import { bindField, findFieldSource, hasSourceForm, unbindField } from './field-sources.ts';
import { type GraphField, isRootField, listGraphFields } from './graph-fields.ts';
import { toGraphOutline } from './graph-outline.ts';
import { SchemaFaultList } from './schema-fault-list.tsx';
import { mergeGraphDefinitions } from './schema-merge.ts';
import { SourceDialog } from './source-dialog.tsx';

const own = graphqlTexts.fields;

interface FieldRow {
  readonly field: GraphField;
  readonly source: FormObject | undefined;
}

const nameOf = ({ field: { type, name } }: FieldRow) => `${type}.${name}`;

const columns: readonly Column<FieldRow>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: row => (
      <code className="font-mono text-small break-all">
        <span className="font-medium">{nameOf(row)}</span>
        {row.field.args && <span className="text-dim">({row.field.args})</span>}
      </code>
    ),
  },
  {
    id: 'type',
    title: own.columns.type,
    cell: ({ field }) => <code className="font-mono text-small">{field.value}</code>,
  },
  { id: 'source', title: own.columns.source, cell: row => <SourceChip {...row} /> },
];

/** Where a field has its value from. */
function SourceChip({ field, source }: FieldRow) {
  if (source)
    return (
      <Badge tone="info">
        {String(source.name)} · {String(source.kind)}
      </Badge>
    );
  if (isRootField(field)) return <StatusPill tone="warning">{own.missing}</StatusPill>;
  return <span className="text-dim">{own.fromParent}</span>;
}

const canConfigure = ({ source }: FieldRow) => source === undefined || hasSourceForm(source);

/** Fields of the schema with their data sources: configured and reset one by one, compared before they are saved. */
export function DataGraphEditor(loaded: LoadedApi) {
  const draft = useDefinitionDraft(loaded, mergeGraphDefinitions);
  const definition = useMemo<unknown>(() => JSON.parse(draft.text), [draft.text]);
  const rows = useMemo<readonly FieldRow[]>(
    () =>
      listGraphFields(toGraphOutline(definition)?.schema ?? '').map(field => ({
        field,
        source: findFieldSource(definition, field),
      })),
    [definition],
  );
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<FieldRow>();
  const change = (next: unknown) => draft.setText(JSON.stringify(next, null, 2));
  const wanted = search.toLowerCase();
  const shown = rows.filter(row => `${nameOf(row)} ${String(row.source?.name ?? '')}`.toLowerCase().includes(wanted));
  const actionsOf = (row: FieldRow) => [
    { label: own.configure, isDisabled: !canConfigure(row), onSelect: () => setChosen(row) },
    {
      label: own.reset,
      isDisabled: row.source === undefined,
      onSelect: () => change(unbindField(definition, row.field)),
    },
  ];
  return (
    <div className="flex flex-col gap-4">
      <Card title={own.title}>
        <div className="flex flex-col gap-3">
          <p className="text-dim">{own.about}</p>
          <DataTable
            label={own.title}
            rows={shown}
            columns={columns}
            idOf={nameOf}
            nameOf={nameOf}
            onClearFilters={() => setSearch('')}
            toolbar={
              <ListToolbar label={own.searchLabel} placeholder={own.search} value={search} onSearch={setSearch} />
            }
            {...(draft.canWrite ? { actions: actionsOf } : {})}
          />
          {draft.isDirty && <SchemaFaultList faults={draft.check.faults} />}
        </div>
      </Card>
      <DefinitionSaveBar draft={draft} />
      {chosen && (
        <SourceDialog
          key={nameOf(chosen)}
          definition={definition}
          field={chosen.field}
          onClose={() => setChosen(undefined)}
          onApply={source => {
            change(bindField(definition, chosen.field, source));
            setChosen(undefined);
          }}
        />
      )}
    </div>
  );
}
