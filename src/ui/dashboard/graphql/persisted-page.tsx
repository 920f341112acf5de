import { Plus, Share2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { MethodBadge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { SelectField } from '../../kit/field.tsx';
import { ErrorText, Notice } from '../../kit/states.tsx';
import { persistedTexts } from '../../texts/en/persisted.ts';
import { ApiFrame, type LoadedApi } from '../apis/api-frame.tsx';
import { DefinitionSaveBar } from '../apis/designer/save-bar.tsx';
import { type DefinitionDraft, useDefinitionDraft } from '../apis/designer/use-draft.ts';
import { PersistedEditor } from './persisted-editor.tsx';
import {
  defaultVersion,
  listInnerVersions,
  listPersistedEntries,
  type PersistedEntry,
  readOperationName,
  withNewEntry,
  withoutEntry,
} from './persisted-entries.ts';

const own = persistedTexts;
const newEntry: PersistedEntry = {
  method: 'GET',
  path: '/new',
  operation: 'query {\n  __typename\n}\n',
  variables: {},
};

/** Persisted operations of an API: endpoints that send an operation of the definition to the GraphQL upstream. */
export const PersistedPage = () => (
  <ApiFrame>
    {loaded =>
      loaded.api.format === 'classic' ? (
        <PersistedOperations key={loaded.api.id} {...loaded} />
      ) : (
        <Notice icon={Share2} title={own.classicOnly}>
          {own.classicOnlyAbout}
        </Notice>
      )
    }
  </ApiFrame>
);

function PersistedOperations(loaded: LoadedApi) {
  const draft = useDefinitionDraft(loaded);
  const definition = useMemo(() => JSON.parse(draft.text) as unknown, [draft.text]);
  const versions = listInnerVersions(definition);
  const [chosen, setVersion] = useState(versions[0] ?? defaultVersion);
  const version = versions.includes(chosen) ? chosen : (versions[0] ?? defaultVersion);
  const [opened, setOpened] = useState<number>();
  const [hasFault, setFault] = useState(false);
  const entries = listPersistedEntries(definition, version);
  const entry = opened === undefined ? undefined : entries[opened];
  const set = (next: unknown) => draft.setText(JSON.stringify(next, null, 2));
  const open = (index: number | undefined) => {
    setOpened(index);
    setFault(false);
  };
  const add = () => {
    set(withNewEntry(definition, version, newEntry));
    open(entries.length);
  };
  const remove = (index: number) => {
    set(withoutEntry(definition, version, index));
    open(undefined);
  };
  return (
    <div className="flex flex-col gap-4">
      <p className="text-dim">{own.about}</p>
      {versions.length > 1 && (
        <div className="w-60">
          <SelectField
            label={own.version}
            value={version}
            onChange={event => {
              setVersion(event.target.value);
              open(undefined);
            }}
            options={versions.map(name => ({ value: name, label: name }))}
          />
        </div>
      )}
      <EntryTable entries={entries} draft={draft} onOpen={open} onRemove={remove} onAdd={add} />
      {entry && opened !== undefined && (
        <PersistedEditor
          key={`${version} ${opened}`}
          {...{ entry, version, definition, draft }}
          index={opened}
          onChange={set}
          onFault={setFault}
        />
      )}
      <ErrorText error={draft.check.error} />
      <DefinitionSaveBar draft={draft} isIncomplete={hasFault} />
    </div>
  );
}

type Row = PersistedEntry & { readonly index: number };

interface EntryTableProps {
  readonly entries: readonly PersistedEntry[];
  readonly draft: DefinitionDraft;
  onOpen(index: number): void;
  onRemove(index: number): void;
  onAdd(): void;
}

const nameOf = ({ method, path }: PersistedEntry) => `${method} ${path}`;

function EntryTable({ entries, draft, onOpen, onRemove, onAdd }: EntryTableProps) {
  const addButton = draft.canWrite && (
    <Button icon={Plus} onClick={onAdd}>
      {own.add}
    </Button>
  );
  if (entries.length === 0)
    return (
      <Notice icon={Share2} title={own.emptyTitle} action={addButton}>
        {own.emptyAbout}
      </Notice>
    );
  const columns: readonly Column<Row>[] = [
    { id: 'method', title: own.columns.method, cell: ({ method }) => <MethodBadge method={method} /> },
    {
      id: 'path',
      title: own.columns.path,
      cell: row => (
        <button
          type="button"
          className="row-link min-h-6 rounded-control text-left font-mono break-all"
          onClick={() => onOpen(row.index)}
        >
          {row.path}
        </button>
      ),
    },
    {
      id: 'operation',
      title: own.columns.operation,
      cell: ({ operation }) => readOperationName(operation) || <span className="text-dim">{own.unnamed}</span>,
    },
    {
      id: 'variables',
      title: own.columns.variables,
      cell: ({ variables }) => <span className="font-mono text-small">{Object.keys(variables).join(', ')}</span>,
    },
  ];
  return (
    <DataTable<Row>
      label={own.list}
      rows={entries.map((entry, index) => ({ ...entry, index }))}
      columns={columns}
      idOf={({ index }) => String(index)}
      nameOf={nameOf}
      toolbar={addButton && <div className="flex justify-end">{addButton}</div>}
      actions={row => [
        { label: own.edit, onSelect: () => onOpen(row.index) },
        ...(draft.canWrite ? [{ label: own.remove, onSelect: () => onRemove(row.index), isDanger: true }] : []),
      ]}
    />
  );
}
