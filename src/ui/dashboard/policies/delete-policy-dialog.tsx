import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { DependentsList } from '../pickers/dependents-list.tsx';
import { idOfPolicy, type PolicyData } from './policy-draft.ts';

const own = texts.policies;

interface DeletePolicyProps {
  readonly policy: PolicyData | undefined;
  onClose(): void;
  onDeleted?(): void;
}

/** Names what depends on the policy: its keys without another policy are refused afterwards. */
export function DeletePolicyDialog({ policy, onClose, onDeleted }: DeletePolicyProps) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('DELETE /api/portal/policies/{policyId}', ['GET /api/portal/policies/search']);
  const id = policy ? idOfPolicy(policy) : '';
  const name = policy?.name || id;
  const remove = () =>
    mutate(
      { given: { params: { policyId: id }, query: { force: 'true' } }, options: { wait: 'applied' } },
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
      isOpen={policy !== undefined}
      tier={3}
      canRestore
      title={own.deleteTitle(name)}
      consequence={
        <div className="flex flex-col gap-2">
          <p>{own.deleteConsequence}</p>
          {id && <DependentsList route="GET /api/portal/policies/{policyId}/dependents" params={{ policyId: id }} />}
        </div>
      }
      action={own.deleteAction(name)}
      isBusy={isPending}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
