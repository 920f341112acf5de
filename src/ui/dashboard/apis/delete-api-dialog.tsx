import { useState } from 'react';
import { ChoiceCards } from '../../kit/choice-cards.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { SelectField } from '../../kit/field.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { DependentsList } from '../pickers/dependents-list.tsx';
import type { ApiOutline } from './api-outline.ts';

const own = texts.apis;
const refreshed = ['GET /api/apis', 'GET /api/apis/{apiId}', 'GET /api/apis/{apiId}/status'] as const;

/** Choice for the versions of a deleted base API. */
type VersionFate = 'leave' | 'promote' | 'purge';
const fates: readonly VersionFate[] = ['leave', 'promote', 'purge'];

export interface DeleteApiProps {
  readonly api: ApiOutline;
  onClose(): void;
  onDeleted(): void;
}

/** Confirms the deletion of an API; a base asks for its name, and for what happens to its versions. */
export function DeleteApiDialog({ api, onClose, onDeleted }: DeleteApiProps) {
  const [fate, setFate] = useState<VersionFate>('leave');
  const [nextBase, setNextBase] = useState('');
  const { versions, remove, isPending } = useDeletion(api, onDeleted, onClose);
  const chosen = nextBase || (versions[0]?.id ?? '');
  return (
    <ConfirmDialog
      isOpen
      tier={api.isBase ? 4 : 3}
      canRestore
      name={api.name || api.id}
      title={own.deleteTitle(api.name || api.id)}
      consequence={
        <div className="flex flex-col gap-2">
          <p>{own.deleteConsequence}</p>
          <DependentsList route="GET /api/apis/{apiId}/dependents" params={{ apiId: api.id }} />
        </div>
      }
      action={own.deleteAction(api.name || api.id)}
      isBusy={isPending}
      onConfirm={() => remove(fate, chosen)}
      onClose={onClose}
    >
      {api.isBase && (
        <>
          <ChoiceCards<VersionFate>
            label={own.versionFate}
            value={fate}
            onChange={setFate}
            choices={fates.map(value => ({ value, ...own.versionFates[value] }))}
          />
          {fate === 'promote' && (
            <SelectField
              label={own.nextBase}
              value={chosen}
              onChange={event => setNextBase(event.target.value)}
              options={versions.map(({ id, versionName, name }) => ({ value: id, label: `${versionName}: ${name}` }))}
            />
          )}
        </>
      )}
    </ConfirmDialog>
  );
}

function useDeletion(api: ApiOutline, onDeleted: () => void, onClose: () => void) {
  const toasts = useToasts();
  const params = { apiId: api.id };
  const list = useOperation('GET /api/apis/oas/{apiId}/versions', { params }, { enabled: api.isBase });
  const rebase = useWrite('PATCH /api/apis/oas/{currentBaseApiId}/rebase/{nextBaseApiId}', refreshed);
  const removeClassic = useWrite('DELETE /api/apis/{apiId}', refreshed);
  const removeDocument = useWrite('DELETE /api/apis/oas/{apiId}', refreshed);
  const deleteApi = (fate: VersionFate) =>
    api.format === 'classic'
      ? removeClassic.mutateAsync({ given: { params } })
      : removeDocument.mutateAsync({ given: { params, query: fate === 'purge' ? { purge: 'true' } : {} } });
  const remove = async (fate: VersionFate, nextBaseApiId: string) => {
    try {
      if (api.isBase && fate === 'promote')
        await rebase.mutateAsync({ given: { params: { currentBaseApiId: api.id, nextBaseApiId } } });
      await deleteApi(fate);
      toasts.showSuccess(own.deleted(api.name || api.id));
      onDeleted();
    } catch (error) {
      toasts.showError((error as Error).message);
      onClose();
    }
  };
  return {
    versions: (list.data?.value.apis ?? []).filter(({ id }) => id !== api.id),
    remove: (fate: VersionFate, nextBaseApiId: string) => void remove(fate, nextBaseApiId),
    isPending: rebase.isPending || removeClassic.isPending || removeDocument.isPending,
  };
}
