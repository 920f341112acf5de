import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { signOnTexts } from '../../texts/en/sign-on.ts';

const own = signOnTexts;

interface DeleteProfileProps {
  readonly profile: { readonly ID: string; readonly Name: string } | undefined;
  onClose(): void;
  onDeleted?(): void;
}

export function DeleteProfileDialog({ profile, onClose, onDeleted }: DeleteProfileProps) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('DELETE /api/sso/profiles/{profileId}', ['GET /api/sso/profiles']);
  const { ID = '', Name = '' } = profile ?? {};
  const remove = () =>
    mutate(
      { given: { params: { profileId: ID } } },
      {
        onSuccess: () => {
          toasts.showSuccess(own.deleted(Name));
          onDeleted?.();
        },
        onError: error => toasts.showError(error.message),
        onSettled: onClose,
      },
    );
  return (
    <ConfirmDialog
      isOpen={profile !== undefined}
      tier={3}
      canRestore
      title={own.deleteTitle(Name)}
      consequence={own.deleteConsequence}
      action={own.deleteAction(Name)}
      isBusy={isPending}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
