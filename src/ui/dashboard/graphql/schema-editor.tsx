import { useMemo } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { Switch } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { graphqlTexts } from '../../texts/en/graphql.ts';
import type { LoadedApi } from '../apis/api-frame.tsx';
import { describeApplied } from '../apis/applied.ts';
import { DefinitionSaveBar } from '../apis/designer/save-bar.tsx';
import { type DefinitionDraft, useDefinitionDraft } from '../apis/designer/use-draft.ts';
import { readFieldValue, withMember } from '../apis/form/json-members.ts';
import { listTypes } from './graph-outline.ts';
import { SchemaFaultList } from './schema-fault-list.tsx';
import { mergeGraphDefinitions } from './schema-merge.ts';

const own = graphqlTexts;
const schemaPath = ['graphql', 'schema'];
const closedPath = ['graphql', 'introspection', 'disabled'];

function readGraph(text: string) {
  const definition: unknown = JSON.parse(text);
  return {
    definition,
    schema: String(readFieldValue(definition, schemaPath) ?? ''),
    hasIntrospection: readFieldValue(definition, closedPath) !== true,
  };
}

/** Schema and switch as one text, for the comparison before a save. */
function toShown(text: string): string {
  const { schema, hasIntrospection } = readGraph(text);
  return `${schema.trimEnd()}\n\n# ${own.introspection}: ${hasIntrospection ? own.on : own.off}\n`;
}

/** Schema as text with an outline of its types: checked while it is edited, compared before it is saved. */
export function SchemaEditor(loaded: LoadedApi) {
  const { api } = loaded;
  const draft = useDefinitionDraft(loaded, mergeGraphDefinitions);
  const { definition, schema, hasIntrospection } = useMemo(() => readGraph(draft.text), [draft.text]);
  const set = (path: readonly string[], value: unknown) =>
    draft.setText(JSON.stringify(withMember(definition, path, value), null, 2));
  return (
    <div className="grid gap-4 min-[1100px]:grid-cols-[1fr_280px] *:min-w-0">
      <Card title={own.schema} action={<ReadButton draft={draft} apiId={api.id} />}>
        <div className="flex flex-col gap-3">
          <CodeEditor
            label={own.schemaLabel(api.name)}
            language="text"
            value={schema}
            isReadOnly={!draft.canWrite}
            onChange={text => text !== schema && set(schemaPath, text)}
          />
          <ErrorText error={draft.check.error} />
          {draft.isDirty && <SchemaFaultList faults={draft.check.faults} />}
          <Switch
            label={own.introspection}
            help={own.introspectionHelp}
            disabled={!draft.canWrite}
            checked={hasIntrospection}
            onChange={event => set(closedPath, !event.target.checked)}
          />
          <DefinitionSaveBar draft={draft} toShown={toShown} />
        </div>
      </Card>
      <TypeOutline schema={schema} />
    </div>
  );
}

/** Replaces the stored schema by introspection of the upstream; edits have to be saved or discarded first. */
function ReadButton({ draft, apiId }: { draft: DefinitionDraft; apiId: string }) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('POST /api/apis/{apiId}/graphql/schema', ['GET /api/apis/{apiId}']);
  if (!draft.canWrite) return null;
  const read = () =>
    mutate(
      { given: { params: { apiId }, body: {} }, options: { wait: 'applied' } },
      {
        onSuccess: ({ value, headers }) =>
          toasts.showSuccess(value.changed ? `${own.schemaRead}. ${describeApplied(headers)}` : own.schemaSame),
        onError: error => toasts.showError(error.message),
      },
    );
  return (
    <Button disabled={draft.isDirty} isBusy={isPending} onClick={read}>
      {own.readSchema}
    </Button>
  );
}

const TypeOutline = ({ schema }: { schema: string }) => {
  const types = listTypes(schema);
  return (
    <Card title={own.types}>
      {types.length === 0 && <p className="text-dim">{own.noTypes}</p>}
      <ul className="flex flex-col gap-1">
        {types.map(([kind, name], index) => (
          // A type can be extended: its place is its identity.
          <li key={`${String(index)} ${name}`} className="flex gap-2 font-mono text-small">
            <span className="w-20 shrink-0 text-dim">{kind}</span>
            <span className="break-all">{name}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
};
