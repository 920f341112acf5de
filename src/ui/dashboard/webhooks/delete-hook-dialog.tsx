import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { webhookTexts } from '../../texts/en/webhooks.ts';
import { DependentsList } from '../pickers/dependents-list.tsx';
import { type HookData, nameHook } from './hook-draft.ts';

const own = webhookTexts;

interface DeleteHookProps {
  readonly hook: HookData | undefined;
  onClose(): void;
  onDeleted?(): void;
}

export function DeleteHookDialog({ hook, onClose, onDeleted }: DeleteHookProps) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('DELETE /api/hooks/{hookId}', ['GET /api/hooks']);
  const name = hook ? nameHook(hook) : '';
  const remove = () =>
    hook &&
    mutate(
      { given: { params: { hookId: hook.id }, query: { force: 'true' } } },
      {
        onSuccess: () => {
          toasts.showSuccess(own.deleted(name));
          onDeleted?.();
        },
        onError: error => toasts.showError(error.message),
        onSettled: onClose,
      },
    );
  return (
    <ConfirmDialog
      isOpen={hook !== undefined}
      tier={3}
      canRestore
      title={own.deleteTitle(name)}
      consequence={
        <div className="flex flex-col gap-2">
          <p>{own.deleteConsequence}</p>
          {hook && <DependentsList route="GET /api/hooks/{hookId}/dependents" params={{ hookId: hook.id }} />}
        </div>
      }
      action={own.deleteAction(name)}
      isBusy={isPending}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
