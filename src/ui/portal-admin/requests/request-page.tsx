import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { SelectField } from '../../kit/field.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { CredentialList } from '../apps/credential-list.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { describeUser } from '../lists/reference-items.ts';
import { describePlanLimits } from '../plans/plan-limits.ts';
import { describeAuthentication } from '../products/authentication-text.ts';
import { RejectDialog } from './reject-dialog.tsx';
import { RequestStatePill } from './request-state-pill.tsx';
import { type Decision, useDecisions } from './use-decisions.ts';

const own = adminTexts.requests;
type AccessRequest = ResultOf<'GET /portal-api/access_requests/{access_request_id}'>;

export function RequestPage() {
  const { requestId } = useParams({ from: '/shell/admin/access_requests/$requestId' });
  const params = { access_request_id: requestId };
  const read = useOperation('GET /portal-api/access_requests/{access_request_id}', { params });
  const remove = useWrite('DELETE /portal-api/access_requests/{access_request_id}', [
    'GET /portal-api/access_requests',
  ]);
  const request = read.data?.value;
  const title = request ? own.nameOf(request.ID, request.Client) : own.title;
  if (!request)
    return (
      <PageFrame title={title}>
        <QueryState query={read} />
      </PageFrame>
    );
  return (
    <PageFrame
      title={title}
      status={<RequestStatePill request={request} />}
      actions={
        <DeleteButton
          label={adminTexts.forms.delete}
          action={own.deleteAction(request.ID)}
          name={String(request.ID)}
          tier={3}
          consequence={own.deleteConsequence}
          list="/admin/access_requests"
          done={own.deleted}
          remove={() => remove.mutateAsync({ given: { params } })}
        />
      }
    >
      <div className="flex flex-col gap-4">
        {request.Status === 'pending' && <DecisionCard request={request} />}
        {request.Revoked && <p className="text-dim">{own.revokedAbout}</p>}
        <RequestFacts request={request} />
        <OtherRequests request={request} />
        {request.Credentials.length > 0 && (
          <Card title={adminTexts.apps.credentials}>
            <CredentialList credentials={request.Credentials} />
          </Card>
        )}
      </div>
    </PageFrame>
  );
}

/** An approval that the provider refuses leaves the request pending, with the reason in place. */
function DecisionCard({ request }: { request: AccessRequest }) {
  const { ID, Changes, Failure } = request;
  const navigate = useNavigate();
  const { isBusy, decide } = useDecisions();
  const toasts = useToasts();
  const [failure, setFailure] = useState<Error | null>(null);
  const [isRejecting, setRejecting] = useState(false);
  const [planId, setPlanId] = useState<number>();
  const run = async (decision: Decision, reason?: string) => {
    const requestId = String(Changes);
    // An approved change becomes part of the request that it changes.
    const leave = () => navigate({ to: '/admin/access_requests/$requestId', params: { requestId }, replace: true });
    const isMerged = decision === 'approve' && Changes > 0;
    const [failed] = await decide(decision, [ID], { reason, planId, ...(isMerged && { leave }) });
    setRejecting(false);
    setFailure(failed ? new Error(failed.reason) : null);
    if (!failed) toasts.showSuccess(own.decided[decision](1));
  };
  return (
    <Card title={own.decision}>
      <div className="flex flex-col gap-3">
        <p className="text-dim">{own.decisionAbout}</p>
        <PlanChoice request={request} planId={planId} onChange={setPlanId} />
        <ErrorText error={failure} />
        <div className="flex flex-wrap gap-2">
          <Button isBusy={isBusy} onClick={() => setRejecting(true)}>
            {own.reject}
          </Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => void run('approve')}>
            {Failure ? own.retry : own.approve}
          </Button>
        </div>
      </div>
      {isRejecting && (
        <RejectDialog
          count={1}
          isBusy={isBusy}
          onReject={reason => run('reject', reason)}
          onClose={() => setRejecting(false)}
        />
      )}
    </Card>
  );
}

interface PlanChoiceProps {
  readonly request: AccessRequest;
  readonly planId: number | undefined;
  onChange(planId: number | undefined): void;
}

/** Other plans that the developer could request for the products; nothing where there are none. */
function PlanChoice({ request, planId, onChange }: PlanChoiceProps) {
  const given = { params: { access_request_id: String(request.ID) } };
  const plans = useOperation('GET /portal-api/access_requests/{access_request_id}/plans', given).data?.value ?? [];
  if (plans.length === 0) return null;
  return (
    <SelectField
      label={own.grantedPlan}
      help={own.grantedPlanHelp}
      value={planId ?? ''}
      onChange={event => onChange(event.target.value === '' ? undefined : Number(event.target.value))}
      options={[
        { value: '', label: own.asRequested(request.Plan) },
        ...plans.map(plan => ({
          value: String(plan.ID),
          label: own.planOption(plan.DisplayName || plan.Name, describePlanLimits(plan)),
        })),
      ]}
    />
  );
}

/** Requests of the same app, newest first: what was decided before. */
function OtherRequests({ request: { ID, AppID } }: { request: AccessRequest }) {
  const params = { app_id: String(AppID) };
  const app = useOperation('GET /portal-api/apps/{app_id}', { params }).data?.value;
  const others = (app?.AccessRequests ?? []).flat().filter(it => it.ID !== ID);
  if (others.length === 0) return null;
  return (
    <Card title={own.otherRequests}>
      <ul className="flex flex-col gap-2">
        {others
          .toSorted((a, b) => b.ID - a.ID)
          .map(it => (
            <li key={it.ID} className="flex flex-wrap items-center gap-2">
              <Link to="/admin/access_requests/$requestId" params={{ requestId: String(it.ID) }} className="row-link">
                {adminTexts.apps.accessOf(it.Products.join(', '), it.Plan)}
              </Link>
              <RequestStatePill request={it} />
              <span className="text-dim">
                {it.CreatedAt}
                {it.Reason && ` · ${it.Reason}`}
              </span>
            </li>
          ))}
      </ul>
    </Card>
  );
}

function RequestFacts({ request }: { request: AccessRequest }) {
  const given = { params: { access_request_id: String(request.ID) } };
  const user = useOperation('GET /portal-api/access_requests/{access_request_id}/user', given).data?.value;
  const client = useOperation('GET /portal-api/access_requests/{access_request_id}/client', given).data?.value;
  const plan = useOperation('GET /portal-api/access_requests/{access_request_id}/plan', given).data?.value;
  return (
    <Card title={own.facts}>
      <FactList
        rows={[
          [
            own.columns.app,
            client ? (
              <Link key="app" to="/admin/apps/$appId" params={{ appId: String(client.ID) }} className="row-link">
                {client.Name}
              </Link>
            ) : (
              request.Client
            ),
          ],
          [own.columns.kind, request.Changes > 0 ? own.changeOf(request.Changes) : own.kinds.new],
          [
            own.columns.user,
            user ? (
              <Link key="user" to="/admin/users/$userId" params={{ userId: String(user.ID) }} className="row-link">
                {describeUser(user)}
              </Link>
            ) : (
              request.User
            ),
          ],
          [own.columns.products, <ProductLinks key="products" request={request} />],
          [own.columns.plan, <PlanLink key="plan" request={request} />],
          ...(request.RequestedPlan ? [[own.requestedPlan, request.RequestedPlan] as const] : []),
          [own.limits, plan ? describePlanLimits(plan) : '–'],
          [own.catalogue, request.Catalogue || own.noCatalogue],
          [own.authentication, describeAuthentication([request.AuthType, ...request.AuthTypes].filter(Boolean))],
          ...(request.Note ? [[own.note, request.Note] as const] : []),
          ...(request.Reason ? [[own.reason, request.Reason] as const] : []),
          ...(request.Failure ? [[own.failure, request.Failure] as const] : []),
          [own.columns.created, request.CreatedAt],
          [own.updated, request.UpdatedAt],
        ]}
      />
    </Card>
  );
}

const PlanLink = ({ request: { Plan, PlanID } }: { request: AccessRequest }) => (
  <Link to="/admin/plans/$planId" params={{ planId: String(PlanID) }} className="row-link">
    {Plan}
  </Link>
);

/** Products in the order of their names on the wire. */
const ProductLinks = ({ request: { Products, ProductIDs } }: { request: AccessRequest }) =>
  Products.split(',').map((name, place) => (
    <Fragment key={ProductIDs[place]}>
      {place > 0 && ', '}
      <Link to="/admin/api_products/$productId" params={{ productId: String(ProductIDs[place]) }} className="row-link">
        {name}
      </Link>
    </Fragment>
  ));
