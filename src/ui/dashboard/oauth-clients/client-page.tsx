import { useNavigate, useParams } from '@tanstack/react-router';
import { AppWindow, Ellipsis, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../kit/button.tsx';
import { Card, FactList } from '../../kit/card.tsx';
import { IdText } from '../../kit/copy.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Menu } from '../../kit/menu.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { useApiNames } from '../pickers/api-picker.tsx';
import { usePolicyNames } from '../pickers/policy-picker.tsx';
import { useNarrowedAnalytics, usePermission } from '../session/session.ts';
import { type ClientItem, nameClient, splitRedirects } from './client-facts.ts';
import { ClientSecretDialog } from './client-secret-dialog.tsx';
import { ClientTokens } from './client-tokens.tsx';
import { ClientUsage } from './client-usage.tsx';
import { DeleteClientDialog } from './delete-client-dialog.tsx';

const own = texts.oauthClients;

/** One OAuth client, read from the list: a single read would return its secret. */
export function ClientPage() {
  const { apiId, clientId } = useParams({ from: '/shell/oauth-clients/$apiId/$clientId' });
  const canWrite = usePermission('oauth:write');
  const isNarrowed = useNarrowedAnalytics();
  const canReadUsage = usePermission('analytics') && !isNarrowed;
  const query = useOperation('GET /api/oauth/clients', { query: { q: clientId, api_id: apiId, p: -1 } });
  const client = query.data?.value.apps.find(it => it.client_id === clientId);
  const nameOfPolicy = usePolicyNames(client?.policy_id ? [client.policy_id] : []);
  const nameOfApi = useApiNames([apiId]);
  if (!query.data) return <QueryState query={query} />;
  if (!client) return <Notice icon={AppWindow} title={own.missing} />;
  return (
    <PageFrame title={nameClient(client)} actions={canWrite && <ClientActions client={client} />}>
      <div className="grid items-start gap-4 min-[1100px]:grid-cols-2">
        <Card title={own.facts}>
          <FactList
            rows={[
              [own.columns.id, <IdText key="id" id={client.client_id} maxChars={40} />],
              [own.description, client.description || '–'],
              [own.columns.api, nameOfApi(client.api_id)],
              [own.columns.policy, client.policy_id ? nameOfPolicy(client.policy_id) : '–'],
              [
                own.columns.redirects,
                <ul key="redirects" className="break-all">
                  {splitRedirects(client.redirect_uri).map(uri => (
                    <li key={uri}>{uri}</li>
                  ))}
                </ul>,
              ],
              [own.columns.created, <TimeText key="created" time={client.created_at} />],
            ]}
          />
        </Card>
        <ClientTokens client={client} canWrite={canWrite} />
        {canReadUsage && <ClientUsage client={client} />}
      </div>
    </PageFrame>
  );
}

function ClientActions({ client }: { client: ClientItem }) {
  const navigate = useNavigate();
  const toasts = useToasts();
  const [pending, setPending] = useState<'delete' | 'rotate'>();
  const { mutate, data, isPending, reset } = useWrite('POST /api/apis/oauth/{apiId}/{clientId}/rotate');
  const close = () => setPending(undefined);
  const name = nameClient(client);
  const rotate = () =>
    mutate(
      { given: { params: { apiId: client.api_id, clientId: client.client_id } }, options: { wait: 'applied' } },
      { onError: error => toasts.showError(error.message), onSettled: close },
    );
  return (
    <>
      <Button icon={RotateCw} onClick={() => setPending('rotate')}>
        {own.rotate}
      </Button>
      <Menu
        trigger={<IconButton icon={Ellipsis} kind="secondary" label={texts.kit.actionsOf(name)} />}
        items={[{ label: own.delete, isDanger: true, onSelect: () => setPending('delete') }]}
      />
      <ConfirmDialog
        isOpen={pending === 'rotate'}
        tier={3}
        title={own.rotateTitle(name)}
        consequence={own.rotateConsequence}
        action={own.rotateAction(name)}
        isBusy={isPending}
        onConfirm={rotate}
        onClose={close}
      />
      {data && <ClientSecretDialog title={own.rotatedTitle} client={data.value} onClose={reset} />}
      <DeleteClientDialog
        client={pending === 'delete' ? client : undefined}
        onClose={close}
        onDeleted={() => void navigate({ to: '/oauth-clients' })}
      />
    </>
  );
}
