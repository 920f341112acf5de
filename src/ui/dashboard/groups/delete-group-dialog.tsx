import type { ResultOf } from '../../kit/calls.ts';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { DependentsList } from '../pickers/dependents-list.tsx';

const own = texts.groups;

interface DeleteGroupProps {
  readonly group: ResultOf<'GET /api/usergroups/{groupId}'> | undefined;
  onClose(): void;
  onDeleted?(): void;
}

export function DeleteGroupDialog({ group, onClose, onDeleted }: DeleteGroupProps) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('DELETE /api/usergroups/{groupId}', ['GET /api/usergroups']);
  const { id = '', name = '' } = group ?? {};
  const remove = () =>
    mutate(
      { given: { params: { groupId: id }, query: { force: 'true' } } },
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
      isOpen={group !== undefined}
      tier={3}
      canRestore
      title={own.deleteTitle(name)}
      consequence={
        <div className="flex flex-col gap-2">
          <p>{own.deleteConsequence}</p>
          {id && <DependentsList route="GET /api/usergroups/{groupId}/dependents" params={{ groupId: id }} />}
        </div>
      }
      action={own.deleteAction(name)}
      isBusy={isPending}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
