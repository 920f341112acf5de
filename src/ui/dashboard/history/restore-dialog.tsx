import type { ReadRoute } from '../../kit/calls.ts';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { describeApplied } from '../apis/applied.ts';
import { type HistoryKind, type RevisedObject, toHistoryRoutes } from './revised-kinds.ts';
import { RevisionChanges } from './revision-comparison.tsx';

const own = texts.history;
const maxChangesShown = 10;
/** Reads of the objects of a kind, which a restore changes. */
const reads: Partial<Record<HistoryKind, readonly ReadRoute[]>> = {
  apis: ['GET /api/apis', 'GET /api/apis/{apiId}', 'GET /api/apis/{apiId}/status'],
  policies: ['GET /api/portal/policies/search', 'GET /api/portal/policies/{policyId}'],
  hooks: ['GET /api/hooks', 'GET /api/hooks/{hookId}'],
  assets: ['GET /api/assets', 'GET /api/assets/{assetId}'],
  usergroups: ['GET /api/usergroups', 'GET /api/usergroups/{groupId}'],
};
/** Kinds that traffic threads load: the message says whether they serve the state. */
const served: ReadonlySet<HistoryKind> = new Set(['apis', 'policies']);

interface RestoreDialogProps {
  readonly object: RevisedObject;
  /** Closed where undefined. */
  readonly revision: number | undefined;
  readonly current: number;
  onClose(): void;
}

/** Restores a revision as a new one, after a look at what changes. */
export function RestoreDialog({ object, revision, current, onClose }: RestoreDialogProps) {
  const routes = toHistoryRoutes(object);
  const isServed = served.has(object.kind);
  const toasts = useToasts();
  const restore = useWrite(routes.restore, [...(reads[object.kind] ?? []), routes.list]);
  const given = { params: routes.params, query: { from: current, to: revision } };
  const isOpen = revision !== undefined;
  const query = useOperation(routes.compare, given, { enabled: isOpen });
  const changes = query.data?.value.changes ?? [];
  const confirm = () =>
    restore.mutate(
      { given: { params: { ...routes.params, revision } }, options: isServed ? { wait: 'applied' } : {} },
      {
        onSuccess: ({ headers }) =>
          toasts.showSuccess([own.restored(revision ?? 0), ...(isServed ? [describeApplied(headers)] : [])].join('. ')),
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
          <p>{isServed ? own.restoreServedAbout : own.restoreAbout}</p>
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
