import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { RevisionChanges } from '../history/revision-comparison.tsx';
import { usePermission } from '../session/session.ts';
import { type AuditRecordView, findHistory, findRecordedRevision, type RecordHistory } from './audit-filters.ts';

const own = texts.audit;
const maxChangesShown = 10;

/** Fields that the request of a record changed, and the way back; nothing where its revision is not known. */
export function RecordedChange({ record }: { record: AuditRecordView }) {
  const history = findHistory(record);
  return history && <History history={history} record={record} />;
}

function History({ history, record }: { history: RecordHistory; record: AuditRecordView }) {
  const { route, params, permission } = history;
  const canRead = usePermission(permission);
  const { data } = useOperation(route, { params, query: { p: 1 } }, { enabled: canRead });
  const newest = data?.value.revisions[0]?.revision ?? 0;
  const revision = data && findRecordedRevision(data.value.revisions, record);
  return revision && <Changes history={history} revision={revision.revision} newest={newest} />;
}

interface ChangesProps {
  readonly history: RecordHistory;
  readonly revision: number;
  readonly newest: number;
}

function Changes({ history: { route, params, permission }, revision, newest }: ChangesProps) {
  const canWrite = usePermission(`${permission}:write`);
  const [isReverting, setReverting] = useState(false);
  const { data } = useOperation(`${route}/{revision}`, { params: { ...params, revision } });
  if (!data) return null;
  const { changes, action } = data.value;
  return (
    <section className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-3">
        <h3 className="text-body font-semibold">{own.changes}</h3>
        {canWrite && action === 'updated' && <Button onClick={() => setReverting(true)}>{own.revert}</Button>}
      </div>
      <RevisionChanges changes={changes.slice(0, maxChangesShown)} />
      {changes.length > maxChangesShown && <p className="text-dim">{own.more(changes.length - maxChangesShown)}</p>}
      {isReverting && (
        <RevertDialog
          history={{ route, params, permission }}
          target={revision - 1}
          newest={newest}
          onClose={() => setReverting(false)}
        />
      )}
    </section>
  );
}

interface RevertProps {
  readonly history: RecordHistory;
  /** The state before the change. */
  readonly target: number;
  readonly newest: number;
  onClose(): void;
}

function RevertDialog({ history: { route, params }, target, newest, onClose }: RevertProps) {
  const toasts = useToasts();
  const compared = { params, query: { from: newest, to: target } };
  const { data } = useOperation(`${route}/compare`, compared);
  const path = route.slice('GET '.length) as 'GET /api/revisions/apis/{apiId}' extends `GET ${infer Path}`
    ? Path
    : never;
  const restore = useWrite(`POST ${path}/{revision}/restore`, [route, `${route}/{revision}`, 'GET /api/audit-logs']);
  const changes = data?.value.changes ?? [];
  const confirm = () =>
    restore.mutate(
      { given: { params: { ...params, revision: target } } },
      {
        onSuccess: () => toasts.showSuccess(own.reverted(target)),
        onError: error => toasts.showError(error.message),
        onSettled: onClose,
      },
    );
  return (
    <ConfirmDialog
      isOpen
      tier={2}
      title={own.revertTitle}
      consequence={
        <div className="flex flex-col gap-3">
          <p>{own.revertAbout}</p>
          <RevisionChanges changes={changes.slice(0, maxChangesShown)} />
          {changes.length > maxChangesShown && <p>{own.more(changes.length - maxChangesShown)}</p>}
        </div>
      }
      action={own.revertAction}
      isBusy={restore.isPending}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}
