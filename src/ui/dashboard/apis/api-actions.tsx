import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import type { MenuItem } from '../../kit/menu.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { apiListTexts } from '../../texts/en/api-list.ts';
import { texts } from '../../texts/texts.ts';
import { DependentsList } from '../pickers/dependents-list.tsx';
import { usePermission } from '../session/session.ts';
import type { ApiOutline } from './api-outline.ts';
import { DeleteApiDialog } from './delete-api-dialog.tsx';
import { CategoriesDialog } from './list/categories-dialog.tsx';
import { DuplicateApiDialog } from './list/duplicate-api-dialog.tsx';
import { exportApi } from './list/export-apis.ts';
import { OwnersDialog } from './list/owners-dialog.tsx';

const own = texts.apis;
const refreshed = ['GET /api/apis', 'GET /api/apis/{apiId}', 'GET /api/apis/{apiId}/status'] as const;

interface PendingAction {
  readonly kind: 'delete' | 'deactivate' | 'duplicate' | 'categories' | 'owners';
  readonly api: ApiOutline;
}

/** Actions on one API: the menu of its row and of its page, and the dialog that confirms them. */
export function useApiActions(onDeleted: () => void = () => undefined) {
  const navigate = useNavigate();
  const toasts = useToasts();
  const [pending, setPending] = useState<PendingAction>();
  const activate = useWrite('PUT /api/apis/{apiId}/actions/activate', refreshed);
  const deactivate = useWrite('PUT /api/apis/{apiId}/actions/deactivate', refreshed);
  const purge = useWrite('DELETE /api/cache/{apiId}', []);
  const canPurge = usePermission('system:write');
  const finish = (text: string) => ({
    onSuccess: () => toasts.showSuccess(text),
    onError: (error: Error) => toasts.showError(error.message),
    onSettled: () => setPending(undefined),
  });

  const confirm = () => {
    if (!pending) return;
    const { api } = pending;
    deactivate.mutate({ given: { params: { apiId: api.id } } }, finish(own.deactivated(api.name)));
  };
  const menuOf = (api: ApiOutline): readonly (MenuItem | 'line')[] => [
    { label: own.open, onSelect: () => void navigate({ to: '/apis/$apiId', params: { apiId: api.id } }) },
    { label: own.tryMenu, onSelect: () => void navigate({ to: '/apis/$apiId/try', params: { apiId: api.id } }) },
    ...(api.format === 'classic'
      ? [
          {
            label: texts.designer.convert,
            onSelect: () => void navigate({ to: '/apis/$apiId/migrate', params: { apiId: api.id } }),
          },
        ]
      : []),
    ...listDialogs(api, kind => setPending({ kind, api })),
    ...listExports(api, (error: Error) => toasts.showError(error.message)),
    api.isActive
      ? { label: own.deactivate, onSelect: () => setPending({ kind: 'deactivate', api }) }
      : {
          label: own.activate,
          onSelect: () => activate.mutate({ given: { params: { apiId: api.id } } }, finish(own.activated(api.name))),
        },
    ...(canPurge
      ? [
          {
            label: own.purge,
            onSelect: () => purge.mutate({ given: { params: { apiId: api.id } } }, finish(own.purged(api.name))),
          },
        ]
      : []),
    'line',
    { label: own.delete, isDanger: true, onSelect: () => setPending({ kind: 'delete', api }) },
  ];
  const close = () => setPending(undefined);
  const leave = () => {
    close();
    onDeleted();
  };
  return { menuOf, pending, confirm, isBusy: deactivate.isPending, close, leave };
}

/** Categories of a classic API are words of its name. */
const listDialogs = (api: ApiOutline, open: (kind: PendingAction['kind']) => void): readonly MenuItem[] => [
  { label: apiListTexts.duplicate.menu, onSelect: () => open('duplicate') },
  ...(api.format === 'oas' ? [{ label: apiListTexts.categories.menu, onSelect: () => open('categories') }] : []),
  { label: apiListTexts.access.menu, onSelect: () => open('owners') },
];

const listExports = (api: ApiOutline, onError: (error: Error) => void): readonly MenuItem[] => [
  { label: apiListTexts.export, onSelect: () => void exportApi(api).catch(onError) },
  ...(api.format === 'oas'
    ? [{ label: apiListTexts.exportPlain, onSelect: () => void exportApi(api, true).catch(onError) }]
    : []),
];

export function ApiConfirmation({ actions }: { actions: ReturnType<typeof useApiActions> }) {
  const { pending, confirm, close, leave, isBusy } = actions;
  if (pending?.kind === 'delete') return <DeleteApiDialog api={pending.api} onClose={close} onDeleted={leave} />;
  if (pending?.kind === 'duplicate') return <DuplicateApiDialog api={pending.api} onClose={close} />;
  if (pending?.kind === 'categories') return <CategoriesDialog api={pending.api} onClose={close} />;
  if (pending?.kind === 'owners') return <OwnersDialog api={pending.api} onClose={close} />;
  const name = pending?.api.name ?? '';
  return (
    <ConfirmDialog
      isOpen={pending !== undefined}
      tier={2}
      title={own.deactivateTitle(name)}
      consequence={
        <div className="flex flex-col gap-2">
          <p>{own.deactivateConsequence}</p>
          {pending && <DependentsList route="GET /api/apis/{apiId}/dependents" params={{ apiId: pending.api.id }} />}
        </div>
      }
      action={own.deactivateAction(name)}
      isBusy={isBusy}
      onConfirm={confirm}
      onClose={close}
    />
  );
}
