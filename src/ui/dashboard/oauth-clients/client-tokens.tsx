import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { ListPaging } from '../../kit/data-table.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { type ClientItem, maskToken, nameClient } from './client-facts.ts';

const own = texts.oauthClients;
const refreshed = ['GET /api/apis/oauth/{apiId}/{clientId}/tokens', 'GET /api/oauth/clients'] as const;

interface ClientTokensProps {
  readonly client: ClientItem;
  readonly canWrite: boolean;
}

/** Valid tokens by their end. */
export function ClientTokens({ client, canWrite }: ClientTokensProps) {
  const params = { apiId: client.api_id, clientId: client.client_id };
  const [p, setPage] = useState(1);
  const route = 'GET /api/apis/oauth/{apiId}/{clientId}/tokens';
  const query = useOperation(route, { params, query: { p } }, { keepPrevious: true });
  // The list has no number of pages: a further page tells whether there is one.
  const next = useOperation(route, { params, query: { p: p + 1 } }, { enabled: query.data?.value.length !== 0 });
  const [pending, setPending] = useState<string>();
  if (!query.data) return <QueryState query={query} lines={3} />;
  const tokens = query.data.value;
  return (
    <Card
      title={own.tokens}
      action={canWrite && tokens.length > 0 && <Button onClick={() => setPending('')}>{own.revokeAll}</Button>}
    >
      {tokens.length === 0 && <p className="text-dim">{own.noTokens}</p>}
      <ul className="flex flex-col gap-1">
        {tokens.map(({ code, expires }) => (
          <li key={code} className="flex flex-wrap items-center gap-3">
            <code className="font-mono">{maskToken(code)}</code>
            <span className="mr-auto text-dim">
              {own.tokenColumns.expires} <TimeText time={expires} />
            </span>
            {canWrite && (
              <Button kind="quiet" onClick={() => setPending(code)}>
                {own.revoke}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <ListPaging page={p} hasNextPage={(next.data?.value.length ?? 0) > 0} onPage={setPage} />
      <RevokeDialog client={client} token={pending} onClose={() => setPending(undefined)} />
    </Card>
  );
}

interface RevokeProps {
  readonly client: ClientItem;
  /** Empty: all of them. */
  readonly token: string | undefined;
  onClose(): void;
}

function RevokeDialog({ client, token, onClose }: RevokeProps) {
  const toasts = useToasts();
  const params = { apiId: client.api_id, clientId: client.client_id };
  const one = useWrite('POST /api/apis/oauth/{apiId}/{clientId}/tokens/revoke', refreshed);
  const all = useWrite('DELETE /api/apis/oauth/{apiId}/{clientId}/tokens', refreshed);
  const isAll = token === '';
  const finish = (text: string) => ({
    onSuccess: () => toasts.showSuccess(text),
    onError: (error: Error) => toasts.showError(error.message),
    onSettled: onClose,
  });
  const revoke = () =>
    isAll
      ? all.mutate({ given: { params }, options: { wait: 'applied' } }, finish(own.revokedAll))
      : one.mutate(
          { given: { params, body: { token: token ?? '' } }, options: { wait: 'applied' } },
          finish(own.revoked),
        );
  return (
    <ConfirmDialog
      isOpen={token !== undefined}
      tier={3}
      title={isAll ? own.revokeAllTitle(nameClient(client)) : own.revokeTitle}
      consequence={isAll ? own.revokeAllConsequence(client.tokens) : own.revokeConsequence}
      action={isAll ? own.revokeAllAction : own.revokeAction}
      isBusy={one.isPending || all.isPending}
      onConfirm={revoke}
      onClose={onClose}
    />
  );
}
