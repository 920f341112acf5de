import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { type ClientItem, maskToken, nameClient } from './client-facts.ts';

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
      consequence={
        <div className="flex flex-col gap-2">
          <p>{own.deleteConsequence(client?.tokens ?? 0)}</p>
          {client && client.tokens > 0 && <EndingTokens client={client} />}
        </div>
      }
      action={own.deleteAction(name)}
      isBusy={isPending}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}

/** Tokens that the confirmation lists; the number of all is above. */
const maxListed = 10;

/** Valid tokens that end with the client, by their last characters. */
function EndingTokens({ client: { api_id: apiId, client_id: clientId } }: { client: ClientItem }) {
  const given = { params: { apiId, clientId }, query: { p: 1 } };
  const query = useOperation('GET /api/apis/oauth/{apiId}/{clientId}/tokens', given);
  if (!query.data) return <QueryState query={query} lines={2} />;
  return (
    <ul aria-label={own.tokens} className="list-disc pl-5">
      {query.data.value.slice(0, maxListed).map(({ code, expires }) => (
        <li key={code}>
          <code className="font-mono">{maskToken(code)}</code> {own.tokenColumns.expires} <TimeText time={expires} />
        </li>
      ))}
    </ul>
  );
}
