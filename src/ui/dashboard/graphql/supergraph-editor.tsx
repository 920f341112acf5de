import { Plus, RefreshCw } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { graphqlTexts } from '../../texts/en/graphql.ts';
import type { LoadedApi } from '../apis/api-frame.tsx';
import { describeApplied } from '../apis/applied.ts';
import { DefinitionSaveBar } from '../apis/designer/save-bar.tsx';
import { type DefinitionDraft, useDefinitionDraft } from '../apis/designer/use-draft.ts';
import { type FormObject, isJsonObject, readFieldValue, withMember } from '../apis/form/json-members.ts';
import { AddSubgraphDialog } from './add-subgraph-dialog.tsx';
import { SubgraphCard } from './subgraph-card.tsx';

const own = graphqlTexts.supergraph;
const subgraphsPath = ['graphql', 'supergraph', 'subgraphs'];
const placePrefix = '/graphql/supergraph/subgraphs';

const listSubgraphs = (definition: unknown): readonly FormObject[] => {
  const value = readFieldValue(definition, subgraphsPath);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
};

/** Subgraphs with their schemas and composition errors, and the schema that they compose to. */
export function SupergraphEditor(loaded: LoadedApi) {
  const draft = useDefinitionDraft(loaded);
  const definition = useMemo<unknown>(() => JSON.parse(draft.text), [draft.text]);
  const subgraphs = listSubgraphs(definition);
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<number>();
  const change = (next: readonly FormObject[]) =>
    draft.setText(JSON.stringify(withMember(definition, subgraphsPath, next), null, 2));
  const removedName = String(subgraphs[removed ?? -1]?.name ?? '');
  return (
    <div className="flex flex-col gap-4">
      <Card title={own.title} action={<EditorActions draft={draft} onAdd={() => setAdding(true)} />}>
        <div className="flex flex-col gap-3">
          <SubgraphList draft={draft} subgraphs={subgraphs} onChange={change} onRemove={setRemoved} />
        </div>
      </Card>
      <DefinitionSaveBar draft={draft} />
      <MergedSchema apiId={loaded.api.id} name={loaded.api.name} />
      {isAdding && (
        <AddSubgraphDialog
          onClose={() => setAdding(false)}
          onAdd={subgraph => {
            change([...subgraphs, subgraph]);
            setAdding(false);
          }}
        />
      )}
      <ConfirmDialog
        isOpen={removed !== undefined}
        tier={3}
        title={own.removeTitle(removedName)}
        consequence={own.removeConsequence}
        action={own.removeAction(removedName)}
        onClose={() => setRemoved(undefined)}
        onConfirm={() => {
          change(subgraphs.filter((_subgraph, at) => at !== removed));
          setRemoved(undefined);
        }}
      />
    </div>
  );
}

interface SubgraphListProps {
  readonly draft: DefinitionDraft;
  readonly subgraphs: readonly FormObject[];
  onChange(subgraphs: readonly FormObject[]): void;
  onRemove(at: number): void;
}

/** Subgraphs, each with its faults; faults of the composition as a whole above them. */
function SubgraphList({ draft, subgraphs, onChange, onRemove }: SubgraphListProps) {
  const faults = draft.isDirty ? draft.check.faults : [];
  const faultsAt = (at: number) => faults.filter(({ pointer }) => `${pointer}/`.startsWith(`${placePrefix}/${at}/`));
  const ofSubgraphs = new Set(subgraphs.flatMap((_subgraph, at) => faultsAt(at)));
  const general = faults.filter(fault => !ofSubgraphs.has(fault));
  return (
    <>
      {subgraphs.length === 0 && <p className="text-dim">{own.empty}</p>}
      {general.map(({ pointer, message }) => (
        <p key={`${pointer} ${message}`} role="alert" className="break-words text-danger">
          {message}
        </p>
      ))}
      {subgraphs.map((subgraph, at) => (
        // Names may be edited: the place is the identity.
        <SubgraphCard
          key={String(at)}
          subgraph={subgraph}
          faults={faultsAt(at)}
          isReadOnly={!draft.canWrite}
          onChange={next => onChange(subgraphs.with(at, next))}
          onRemove={() => onRemove(at)}
        />
      ))}
    </>
  );
}

/** Adds a subgraph, or reads the schemas of the stored ones again; edits have to be saved or discarded first. */
function EditorActions({ draft, onAdd }: { draft: DefinitionDraft; onAdd(): void }) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('POST /api/apis/{apiId}/graphql/subgraphs', [
    'GET /api/apis/{apiId}',
    'GET /api/apis/{apiId}/graphql/schema',
  ]);
  if (!draft.canWrite) return null;
  const update = () =>
    mutate(
      { given: { params: { apiId: draft.base.api.id }, body: {} }, options: { wait: 'applied' } },
      {
        onSuccess: ({ value, headers }) =>
          toasts.showSuccess(value.changed ? `${own.updated}. ${describeApplied(headers)}` : own.same),
        onError: error => toasts.showError(error.message),
      },
    );
  return (
    <div className="flex flex-wrap justify-end gap-2">
      <Button icon={RefreshCw} disabled={draft.isDirty} isBusy={isPending} onClick={update}>
        {own.update}
      </Button>
      <Button icon={Plus} onClick={onAdd}>
        {own.add}
      </Button>
    </div>
  );
}

/** Schema that clients see, of the stored subgraphs. */
function MergedSchema({ apiId, name }: { apiId: string; name: string }) {
  const query = useOperation('GET /api/apis/{apiId}/graphql/schema', { params: { apiId } });
  const schema = query.data?.value.client_schema;
  return (
    <Card title={own.merged}>
      {schema === undefined && <QueryState query={query} />}
      {schema === '' && <p className="text-dim">{own.noMerged}</p>}
      {schema && <CodeEditor label={own.mergedLabel(name)} language="text" isReadOnly value={schema} />}
    </Card>
  );
}
