import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { useHookHealth } from './hook-health.tsx';

const own = texts.deliveries;
const refreshed = ['GET /api/deliveries', 'GET /api/hooks/{hookId}/health'] as const;

/** Retries all dead letters of a webhook, after their number was confirmed. */
export function RetryAllButton({ hookId }: { hookId: string }) {
  const toasts = useToasts();
  const [isAsking, setAsking] = useState(false);
  const failed = useHookHealth(hookId).data?.value.failed ?? 0;
  const { mutate, isPending } = useWrite('POST /api/hooks/{hookId}/retry', refreshed);
  const retry = () =>
    mutate(
      { given: { params: { hookId } } },
      {
        onSuccess: () => toasts.showSuccess(own.retriedAll(failed)),
        onError: error => toasts.showError(error.message),
        onSettled: () => setAsking(false),
      },
    );
  if (failed === 0) return null;
  return (
    <>
      <Button onClick={() => setAsking(true)}>{own.retryAll}</Button>
      <ConfirmDialog
        isOpen={isAsking}
        tier={2}
        title={own.retryAllTitle}
        consequence={own.retryAllConsequence(failed)}
        action={own.retryAllAction(failed)}
        isBusy={isPending}
        onConfirm={retry}
        onClose={() => setAsking(false)}
      />
    </>
  );
}
