import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { systemTexts } from '../../texts/en/system.ts';
import { ApiSelect } from '../monitor/api-select.tsx';
import { usePermission } from '../session/session.ts';

const own = systemTexts.caches;
type Cache = 'responses' | 'keySets';

/** Purges caches of one API. Absent for users who may purge none, or may not list APIs. */
export function CacheCard() {
  const canPurge = usePermission('system:write');
  const canClear = usePermission('admin');
  const canList = usePermission('apis');
  const [apiId, setApiId] = useState('');
  const [pending, setPending] = useState<Cache>();
  if (!canList || !(canPurge || canClear)) return null;
  return (
    <Card title={own.title}>
      <div className="flex flex-wrap items-center gap-2">
        <ApiSelect apiId={apiId} onChange={setApiId} emptyLabel={own.choose} />
        {canPurge && (
          <Button disabled={apiId === ''} onClick={() => setPending('responses')}>
            {own.responses.action}
          </Button>
        )}
        {canClear && (
          <Button disabled={apiId === ''} onClick={() => setPending('keySets')}>
            {own.keySets.action}
          </Button>
        )}
      </div>
      <PurgeDialog apiId={apiId} cache={pending} onClose={() => setPending(undefined)} />
    </Card>
  );
}

interface PurgeDialogProps {
  readonly apiId: string;
  readonly cache: Cache | undefined;
  onClose(): void;
}

function PurgeDialog({ apiId, cache, onClose }: PurgeDialogProps) {
  const toasts = useToasts();
  const purge = useWrite('DELETE /api/cache/{apiId}');
  const clear = useWrite('DELETE /api/cache/jwks/{apiId}', ['GET /api/system/nodes']);
  const write = cache === 'keySets' ? clear : purge;
  const { title, action, consequence, done } = own[cache ?? 'responses'];
  const confirm = () =>
    write.mutate(
      { given: { params: { apiId } } },
      {
        onSuccess: () => toasts.showSuccess(done),
        onError: error => toasts.showError(error.message),
        onSettled: onClose,
      },
    );
  return (
    <ConfirmDialog
      isOpen={cache !== undefined}
      tier={2}
      title={title(apiId)}
      consequence={consequence}
      action={action}
      isBusy={write.isPending}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}
