import { useBlocker } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { CallError, callServer } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { Switch } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import type { ApiOutline } from '../apis/api-outline.ts';
import { describeApplied } from '../apis/applied.ts';
import { usePermission } from '../session/session.ts';
import { type GraphOutline, listTypes, setSchema } from './graph-outline.ts';

const own = texts.graphql;

export interface SchemaEditorProps {
  readonly api: ApiOutline;
  readonly graph: GraphOutline;
  readonly definition: unknown;
  readonly etag: string | undefined;
}

/** Faults of the whole definition with the edited schema, found by the server before anything is stored. */
async function findFaults(apiId: string, definition: unknown): Promise<readonly string[]> {
  const given = { query: { api_id: apiId }, body: { api_definition: definition } };
  const { value } = await callServer('POST /api/apis/check', given as never);
  return value.faults.map(({ pointer, message }) => `${pointer}: ${message}`);
}

function useSchemaSave({ api, definition, etag }: SchemaEditorProps) {
  const toasts = useToasts();
  const [faults, setFaults] = useState<readonly string[]>([]);
  const [failure, setFailure] = useState<Error>();
  const { mutate, error, isPending } = useWrite('PUT /api/apis/{apiId}', ['GET /api/apis', 'GET /api/apis/{apiId}']);
  const run = async (schema: string, hasIntrospection: boolean) => {
    const next = setSchema(definition, schema, hasIntrospection);
    setFailure(undefined);
    const found = await findFaults(api.id, next).catch((thrown: Error) => {
      setFailure(thrown);
      return undefined;
    });
    setFaults(found ?? []);
    if (found?.length !== 0) return;
    mutate(
      {
        given: { params: { apiId: api.id }, body: { api_definition: next } as never },
        options: { ifMatch: etag, wait: 'applied' },
      },
      { onSuccess: ({ headers }) => toasts.showSuccess(`${own.saved(api.name)}. ${describeApplied(headers)}`) },
    );
  };
  const isConflict = error instanceof CallError && error.status === 412;
  return { run, faults, isPending, error: failure ?? (isConflict ? new Error(own.conflict) : error) };
}

/** Schema as text with an outline of its types; checked by the server before it is saved. */
export function SchemaEditor(props: SchemaEditorProps) {
  const { api, graph } = props;
  const canWrite = usePermission('apis:write');
  const [schema, setText] = useState(graph.schema);
  const [hasIntrospection, setIntrospection] = useState(graph.hasIntrospection);
  const save = useSchemaSave(props);
  const isDirty = schema !== graph.schema || hasIntrospection !== graph.hasIntrospection;
  useBlocker({
    shouldBlockFn: () => isDirty && !save.isPending && !confirm(texts.apis.leave),
    enableBeforeUnload: () => isDirty,
  });
  return (
    <div className="grid gap-4 min-[1100px]:grid-cols-[1fr_280px]">
      <Card title={own.schema}>
        <div className="flex flex-col gap-3">
          <CodeEditor
            label={own.schemaLabel(api.name)}
            language="text"
            value={schema}
            isReadOnly={!canWrite}
            onChange={setText}
          />
          <ErrorText error={save.error} />
          <FaultList faults={save.faults} />
          <Switch
            label={own.introspection}
            help={own.introspectionHelp}
            disabled={!canWrite}
            checked={hasIntrospection}
            onChange={event => setIntrospection(event.target.checked)}
          />
          {canWrite && (
            <Button
              kind="primary"
              className="self-end"
              disabled={!isDirty}
              isBusy={save.isPending}
              onClick={() => void save.run(schema, hasIntrospection)}
            >
              {own.save}
            </Button>
          )}
        </div>
      </Card>
      <TypeOutline schema={schema} />
    </div>
  );
}

const FaultList = ({ faults }: { faults: readonly string[] }) =>
  faults.length === 0 ? null : (
    <div role="alert" className="rounded-control border border-danger-line bg-danger-soft px-3 py-2 text-danger">
      <p>{own.faults}</p>
      <ul className="list-disc pl-4">
        {faults.map(fault => (
          <li key={fault} className="break-words">
            {fault}
          </li>
        ))}
      </ul>
    </div>
  );

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
