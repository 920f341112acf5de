import { Link } from '@tanstack/react-router';
import { RefreshCw, ShieldOff } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { ForceChoice } from '../credentials/force-choice.tsx';
import { RequestStatePill } from '../requests/request-state-pill.tsx';
import { ChangeAccessDialog } from './change-access-dialog.tsx';
import { CredentialList } from './credential-list.tsx';
import { ProvisionDialog } from './provision-dialog.tsx';

const own = adminTexts.apps;
const rotateRoute =
  'PUT /portal-api/apps/{app_id}/access-requests/{access-request_id}/credentials/{credential_id}/rotate';
const revokeRoute = 'DELETE /portal-api/apps/{app_id}/access-requests/{access-request_id}/credentials/{credential_id}';
const refreshed = ['GET /portal-api/apps/{app_id}'] as const;

export type PortalApp = ResultOf<'GET /portal-api/apps/{app_id}'>;

interface Chosen {
  readonly kind: 'rotate' | 'revoke';
  readonly requestId: number;
  readonly credentialId: number;
}

/** Access of an app: its requests with their credentials, which an administrator can rotate and revoke. */
export function AppAccess({ app }: { app: PortalApp }) {
  const [chosen, setChosen] = useState<Chosen>();
  const [isProvisioning, setProvisioning] = useState(false);
  const [changed, setChanged] = useState(0);
  const requests = app.AccessRequests.flat();
  const changedRequest = requests.find(({ ID }) => ID === changed);
  return (
    <Card title={own.access} action={<Button onClick={() => setProvisioning(true)}>{own.provision}</Button>}>
      {requests.length === 0 && <p className="text-dim">{own.noAccess}</p>}
      <ul className="flex flex-col gap-6">
        {requests.map(request => (
          <li key={request.ID} className="flex flex-col gap-3">
            <div className="flex flex-wrap items-center gap-3">
              <Link
                to="/admin/access_requests/$requestId"
                params={{ requestId: String(request.ID) }}
                className="row-link"
              >
                {own.accessOf(request.Products.join(', '), request.Plan)}
              </Link>
              <RequestStatePill request={request} />
              {request.Status === 'approved' && request.Changes === 0 && !request.Revoked && (
                <Button onClick={() => setChanged(request.ID)}>{own.changeAccess}</Button>
              )}
            </div>
            <CredentialList
              credentials={request.Credentials}
              renderActions={({ ID }) => (
                <>
                  <Button
                    icon={RefreshCw}
                    onClick={() => setChosen({ kind: 'rotate', requestId: request.ID, credentialId: ID })}
                  >
                    {own.rotate}
                  </Button>
                  <Button
                    icon={ShieldOff}
                    onClick={() => setChosen({ kind: 'revoke', requestId: request.ID, credentialId: ID })}
                  >
                    {own.revoke}
                  </Button>
                </>
              )}
            />
          </li>
        ))}
      </ul>
      <CredentialDialog key={JSON.stringify(chosen)} app={app} chosen={chosen} onClose={() => setChosen(undefined)} />
      {changedRequest && <ChangeAccessDialog request={changedRequest} onClose={() => setChanged(0)} />}
      <ProvisionDialog
        key={String(isProvisioning)}
        appId={app.ID}
        isOpen={isProvisioning}
        onClose={() => setProvisioning(false)}
      />
    </Card>
  );
}

interface CredentialDialogProps {
  readonly app: PortalApp;
  readonly chosen: Chosen | undefined;
  onClose(): void;
}

/** Both replace or end a key at once: irreversible. */
function CredentialDialog({ app, chosen, onClose }: CredentialDialogProps) {
  const rotate = useWrite(rotateRoute, refreshed);
  const revoke = useWrite(revokeRoute, refreshed);
  const toasts = useToasts();
  const [isForced, setForced] = useState(false);
  const kind = chosen?.kind ?? 'revoke';
  const confirm = () => {
    if (!chosen) return;
    const params = {
      app_id: String(app.ID),
      access_request_id: String(chosen.requestId),
      credential_id: String(chosen.credentialId),
    };
    const callbacks = {
      onSuccess: () => toasts.showSuccess(own.confirm[kind].done),
      onError: (error: Error) => toasts.showError(error.message),
      onSettled: onClose,
    };
    if (kind === 'rotate') rotate.mutate({ given: { params } }, callbacks);
    else revoke.mutate({ given: { params, query: { force: isForced } } }, callbacks);
  };
  return (
    <ConfirmDialog
      isOpen={chosen !== undefined}
      tier={3}
      title={own.confirm[kind].title}
      consequence={own.confirm[kind].consequence}
      action={own.confirm[kind].action}
      isBusy={rotate.isPending || revoke.isPending}
      onConfirm={confirm}
      onClose={onClose}
    >
      {kind === 'revoke' && <ForceChoice isForced={isForced} onChange={setForced} />}
    </ConfirmDialog>
  );
}
