import { Card } from '../../kit/card.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import { JsonField } from '../../kit/json-field.tsx';
import { toPointer } from '../../kit/json-pointer.ts';
import { persistedTexts } from '../../texts/en/persisted.ts';
import type { DefinitionDraft } from '../apis/designer/use-draft.ts';
import { readFieldValue } from '../apis/form/json-members.ts';
import { type PersistedEntry, toEntriesPath, withEntryMember } from './persisted-entries.ts';

const own = persistedTexts;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

interface PersistedEditorProps {
  readonly entry: PersistedEntry;
  readonly index: number;
  readonly version: string;
  readonly definition: unknown;
  readonly draft: DefinitionDraft;
  onChange(definition: unknown): void;
  /** Variables that are no JSON object keep the definition as it is. */
  onFault(hasFault: boolean): void;
}

const hasSchema = (definition: unknown) =>
  String(readFieldValue(definition, ['graphql', 'schema']) ?? '').trim() !== '' ||
  readFieldValue(definition, ['graphql', 'execution_mode']) === 'supergraph';

/** One persisted operation: checked by the server while it is edited. */
export function PersistedEditor(props: PersistedEditorProps) {
  const { entry, index, version, definition, draft, onChange, onFault } = props;
  const set = (change: Partial<PersistedEntry>) => onChange(withEntryMember(definition, version, index, change));
  const place = `${toPointer([...toEntriesPath(version), index])}/`;
  const faults = draft.isDirty ? draft.check.marks.filter(({ pointer }) => pointer.startsWith(place)) : [];
  const known = methods.includes(entry.method) ? methods : [entry.method, ...methods];
  return (
    <Card title={own.editorTitle(entry.method, entry.path)}>
      <div className="flex flex-col gap-4">
        <div className="grid gap-4 min-[700px]:grid-cols-[160px_1fr]">
          <SelectField
            label={own.columns.method}
            disabled={!draft.canWrite}
            value={entry.method}
            onChange={event => set({ method: event.target.value })}
            options={known.map(value => ({ value, label: value }))}
          />
          <TextField
            label={own.columns.path}
            isMono
            disabled={!draft.canWrite}
            help={own.pathHelp}
            error={entry.path.startsWith('/') ? undefined : own.pathInvalid}
            value={entry.path}
            onChange={event => set({ path: event.target.value })}
          />
        </div>
        <div className="flex flex-col gap-1">
          <CodeEditor
            label={own.operationLabel}
            language="text"
            value={entry.operation}
            isReadOnly={!draft.canWrite}
            onChange={operation => operation !== entry.operation && set({ operation })}
          />
          <p className="text-small text-dim">{hasSchema(definition) ? own.checkedBySchema : own.checkedBySyntax}</p>
          {faults.map(({ message }) => (
            <p key={message} role="alert" className="text-small text-danger">
              {message}
            </p>
          ))}
        </div>
        <JsonField
          label={own.variablesLabel}
          help={own.variablesHelp}
          disabled={!draft.canWrite}
          value={entry.variables}
          onChange={variables => set({ variables: variables as PersistedEntry['variables'] })}
          onFault={fault => onFault(fault !== undefined)}
        />
      </div>
    </Card>
  );
}
