import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { DependentsList } from '../pickers/dependents-list.tsx';

const own = texts.certificates;

interface DeleteCertificateProps {
  readonly certificate: { readonly id: string; readonly name: string } | undefined;
  onClose(): void;
  onDeleted?(): void;
}

export function DeleteCertificateDialog({ certificate, onClose, onDeleted }: DeleteCertificateProps) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('DELETE /api/certs/{certId}', ['GET /api/certs']);
  const { id = '', name = '' } = certificate ?? {};
  const remove = () =>
    mutate(
      { given: { params: { certId: id }, query: { force: 'true' } }, options: { wait: 'applied' } },
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
      isOpen={certificate !== undefined}
      tier={3}
      title={own.deleteTitle(name)}
      consequence={
        <div className="flex flex-col gap-2">
          <p>{own.deleteConsequence}</p>
          {id && <DependentsList route="GET /api/certs/{certId}/dependents" params={{ certId: id }} />}
        </div>
      }
      action={own.deleteAction(name)}
      isBusy={isPending}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
