import { ConfirmDialog } from '../../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../../kit/queries.ts';
import { useToasts } from '../../../kit/toast.tsx';
import { texts } from '../../../texts/texts.ts';
import type { ApiOutline } from '../api-outline.ts';
import { describeApplied } from '../applied.ts';
import { RevisionChanges } from './revision-comparison.tsx';

const own = texts.history;
const maxChangesShown = 10;
const refreshed = [
  'GET /api/apis',
  'GET /api/apis/{apiId}',
  'GET /api/apis/{apiId}/status',
  'GET /api/revisions/apis/{apiId}',
] as const;

interface RestoreDialogProps {
  readonly api: ApiOutline;
  /** Closed where undefined. */
  readonly revision: number | undefined;
  readonly current: number;
  onClose(): void;
}

/** Restores a revision as a new one, after a look at what changes. */
export function RestoreDialog({ api, revision, current, onClose }: RestoreDialogProps) {
  const toasts = useToasts();
  const restore = useWrite('POST /api/revisions/apis/{apiId}/{revision}/restore', refreshed);
  const given = { params: { apiId: api.id }, query: { from: current, to: revision } };
  const isOpen = revision !== undefined;
  const query = useOperation('GET /api/revisions/apis/{apiId}/compare', given, { enabled: isOpen });
  const changes = query.data?.value.changes ?? [];
  const confirm = () =>
    restore.mutate(
      { given: { params: { apiId: api.id, revision } }, options: { wait: 'applied' } },
      {
        onSuccess: ({ headers }) => toasts.showSuccess(`${own.restored(revision ?? 0)}. ${describeApplied(headers)}`),
        onError: error => toasts.showError(error.message),
        onSettled: onClose,
      },
    );
  return (
    <ConfirmDialog
      isOpen={isOpen}
      tier={2}
      title={own.restoreTitle(revision ?? 0)}
      consequence={
        <div className="flex flex-col gap-3">
          <p>{own.restoreAbout}</p>
          <RevisionChanges changes={changes.slice(0, maxChangesShown)} />
          {changes.length > maxChangesShown && <p>{own.more(changes.length - maxChangesShown)}</p>}
        </div>
      }
      action={own.restoreAction(revision ?? 0)}
      isBusy={restore.isPending}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}
