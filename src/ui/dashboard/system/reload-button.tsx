import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { systemTexts } from '../../texts/en/system.ts';
import { usePermission } from '../session/session.ts';

const own = systemTexts.reload;

const describe = ({ applied, processes, not_applied: stale }: ResultOf<'POST /api/system/reload'>) =>
  [own.done(applied, processes), ...stale].join('. ');

/** Makes the traffic threads load what is committed; for administrators. */
export function ReloadButton() {
  const isAdmin = usePermission('admin');
  const toasts = useToasts();
  const [isOpen, setOpen] = useState(false);
  const { mutate, isPending } = useWrite('POST /api/system/reload', ['GET /api/system/nodes']);
  if (!isAdmin) return null;
  const close = () => setOpen(false);
  const confirm = () =>
    mutate(
      { given: {} },
      {
        onSuccess: ({ value }) =>
          value.not_applied.length === 0 ? toasts.showSuccess(describe(value)) : toasts.showError(describe(value)),
        onError: error => toasts.showError(error.message),
        onSettled: close,
      },
    );
  return (
    <>
      <Button icon={RefreshCw} onClick={() => setOpen(true)}>
        {own.open}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        tier={2}
        title={own.title}
        consequence={own.consequence}
        action={own.action}
        isBusy={isPending}
        onConfirm={confirm}
        onClose={close}
      />
    </>
  );
}
