import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { type ClientItem, nameClient } from './client-facts.ts';

const own = texts.oauthClients;

interface DeleteClientProps {
  readonly client: ClientItem | undefined;
  onClose(): void;
  onDeleted?(): void;
}

/** Counts the tokens that end with the client. */
export function DeleteClientDialog({ client, onClose, onDeleted }: DeleteClientProps) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('DELETE /api/apis/oauth/{apiId}/{clientId}', ['GET /api/oauth/clients']);
  const name = client ? nameClient(client) : '';
  const remove = () =>
    client &&
    mutate(
      { given: { params: { apiId: client.api_id, clientId: client.client_id } }, options: { wait: 'applied' } },
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
      isOpen={client !== undefined}
      tier={3}
      title={own.deleteTitle(name)}
      consequence={own.deleteConsequence(client?.tokens ?? 0)}
      action={own.deleteAction(name)}
      isBusy={isPending}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
