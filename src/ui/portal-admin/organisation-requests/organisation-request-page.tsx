import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { TextField } from '../../kit/field.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { RejectDialog } from '../requests/reject-dialog.tsx';
import { RequestStatePill } from '../requests/request-state-pill.tsx';

const own = adminTexts.organisationRequests;
const onePath = '/portal-api/organisation-requests/{organisation_request_id}' as const;
type OrganisationRequest = ResultOf<`GET ${typeof onePath}`>;
const reads = ['GET /portal-api/organisation-requests', `GET ${onePath}`, 'GET /portal-api/organisations'] as const;

export function OrganisationRequestPage() {
  const { requestId } = useParams({ from: '/shell/admin/organisation_requests/$requestId' });
  const read = useOperation(`GET ${onePath}`, { params: { organisation_request_id: requestId } });
  const request = read.data?.value;
  if (!request)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  return (
    <PageFrame title={request.Name} width="form" status={<RequestStatePill request={request} />}>
      <div className="flex flex-col gap-4">
        {request.Status === 'pending' && <OrganisationDecision key={request.ID} request={request} />}
        <RequestFacts request={request} />
      </div>
    </PageFrame>
  );
}

function OrganisationDecision({ request: { ID, Name } }: { request: OrganisationRequest }) {
  const approve = useWrite(`PUT ${onePath}/approve`, reads);
  const reject = useWrite(`PUT ${onePath}/reject`, reads);
  const toasts = useToasts();
  const [name, setName] = useState(Name);
  const [isRejecting, setRejecting] = useState(false);
  const params = { organisation_request_id: String(ID) };
  const isBusy = approve.isPending || reject.isPending;
  return (
    <Card title={own.decision}>
      <form
        className="flex flex-col gap-3"
        onSubmit={event => {
          event.preventDefault();
          const given = { params, body: { Name: name.trim() } };
          approve.mutate({ given }, { onSuccess: () => toasts.showSuccess(own.approved) });
        }}
      >
        <p className="text-dim">{own.decisionAbout}</p>
        <ErrorText error={approve.error ?? reject.error} />
        <TextField label={own.finalName} required value={name} onChange={event => setName(event.target.value)} />
        <div className="flex flex-wrap gap-2">
          <Button isBusy={isBusy} onClick={() => setRejecting(true)}>
            {own.reject}
          </Button>
          <Button kind="primary" type="submit" isBusy={isBusy} disabled={name.trim() === ''}>
            {own.approve}
          </Button>
        </div>
      </form>
      {isRejecting && (
        <RejectDialog
          count={1}
          isBusy={isBusy}
          onReject={async reason => {
            await reject.mutateAsync({ given: { params, query: { reason } } }).then(
              () => toasts.showSuccess(own.rejected),
              () => undefined,
            );
            setRejecting(false);
          }}
          onClose={() => setRejecting(false)}
        />
      )}
    </Card>
  );
}

const RequestFacts = ({ request }: { request: OrganisationRequest }) => (
  <Card title={own.facts}>
    <FactList
      rows={[
        [
          own.columns.developer,
          <Link key="user" to="/admin/users/$userId" params={{ userId: String(request.AdminID) }} className="row-link">
            {request.AdminEmail}
          </Link>,
        ],
        [own.columns.created, request.CreatedAt],
        [own.reason, request.Reason || '–'],
        [
          own.organisation,
          request.OrganisationID === 0 ? (
            '–'
          ) : (
            <Link
              key="organisation"
              to="/admin/organisations/$organisationId"
              params={{ organisationId: String(request.OrganisationID) }}
              className="row-link"
            >
              {own.showOrganisation}
            </Link>
          ),
        ],
      ]}
    />
  </Card>
);
