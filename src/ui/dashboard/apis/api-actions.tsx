import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import type { MenuItem } from '../../kit/menu.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import type { ApiOutline } from './api-outline.ts';

const own = texts.apis;
const refreshed = ['GET /api/apis', 'GET /api/apis/{apiId}', 'GET /api/apis/{apiId}/status'] as const;

interface PendingAction {
  readonly kind: 'delete' | 'deactivate';
  readonly api: ApiOutline;
}

/** Actions on one API: the menu of its row and of its page, and the dialog that confirms them. */
export function useApiActions(onDeleted: () => void = () => undefined) {
  const navigate = useNavigate();
  const toasts = useToasts();
  const [pending, setPending] = useState<PendingAction>();
  const activate = useWrite('PUT /api/apis/{apiId}/actions/activate', refreshed);
  const deactivate = useWrite('PUT /api/apis/{apiId}/actions/deactivate', refreshed);
  const remove = useWrite('DELETE /api/apis/{apiId}', refreshed);
  const removeDocument = useWrite('DELETE /api/apis/oas/{apiId}', refreshed);
  const finish = (text: string) => ({
    onSuccess: () => toasts.showSuccess(text),
    onError: (error: Error) => toasts.showError(error.message),
    onSettled: () => setPending(undefined),
  });

  const confirm = () => {
    if (!pending) return;
    const { kind, api } = pending;
    const given = { params: { apiId: api.id } } as never;
    if (kind === 'deactivate') return deactivate.mutate({ given }, finish(own.deactivated(api.name)));
    const { mutate } = api.format === 'classic' ? remove : removeDocument;
    const { onSuccess, ...rest } = finish(own.deleted(api.name));
    const leave = () => {
      onSuccess();
      onDeleted();
    };
    mutate({ given }, { ...rest, onSuccess: leave });
  };
  const menuOf = (api: ApiOutline): readonly (MenuItem | 'line')[] => [
    { label: own.open, onSelect: () => void navigate({ to: '/apis/$apiId', params: { apiId: api.id } }) },
    api.isActive
      ? { label: own.deactivate, onSelect: () => setPending({ kind: 'deactivate', api }) }
      : {
          label: own.activate,
          onSelect: () =>
            activate.mutate({ given: { params: { apiId: api.id } } as never }, finish(own.activated(api.name))),
        },
    'line',
    { label: own.delete, isDanger: true, onSelect: () => setPending({ kind: 'delete', api }) },
  ];
  const isBusy = deactivate.isPending || remove.isPending || removeDocument.isPending;
  return { menuOf, pending, confirm, isBusy, cancel: () => setPending(undefined) };
}

export function ApiConfirmation({ actions }: { actions: ReturnType<typeof useApiActions> }) {
  const { pending, confirm, cancel, isBusy } = actions;
  const name = pending?.api.name ?? '';
  const isDelete = pending?.kind === 'delete';
  return (
    <ConfirmDialog
      isOpen={pending !== undefined}
      tier={isDelete ? 3 : 2}
      title={isDelete ? own.deleteTitle(name) : own.deactivateTitle(name)}
      consequence={isDelete ? own.deleteConsequence : own.deactivateConsequence}
      action={isDelete ? own.deleteAction(name) : own.deactivateAction(name)}
      isBusy={isBusy}
      onConfirm={confirm}
      onClose={cancel}
    />
  );
}
