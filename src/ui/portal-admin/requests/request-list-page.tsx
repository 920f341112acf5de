import { Link, useSearch } from '@tanstack/react-router';
import { Inbox } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { useListChange } from '../../kit/list-search.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows } from '../lists/admin-list.tsx';
import { RejectDialog } from './reject-dialog.tsx';
import { type RequestState, RequestStatePill, requestStates } from './request-state-pill.tsx';
import { type Decision, type DecisionFailure, useDecisions } from './use-decisions.ts';

const own = adminTexts.requests;

type RequestItem = ResultOf<'GET /portal-api/access_requests'>[number];

const columns: readonly Column<RequestItem>[] = [
  {
    id: 'app',
    title: own.columns.app,
    cell: request => (
      <Link to="/admin/access_requests/$requestId" params={{ requestId: String(request.ID) }} className="row-link">
        {own.nameOf(request.ID, request.Client)}
      </Link>
    ),
  },
  { id: 'products', title: own.columns.products, cell: ({ Products }) => Products.split(',').join(', ') },
  { id: 'plan', title: own.columns.plan, cell: ({ Plan }) => Plan },
  { id: 'kind', title: own.columns.kind, cell: ({ Changes }) => (Changes > 0 ? own.kinds.change : own.kinds.new) },
  {
    id: 'user',
    title: own.columns.user,
    cell: ({ UserID, UserEmail, User }) =>
      UserEmail === '' ? (
        User
      ) : (
        <Link to="/admin/users/$userId" params={{ userId: String(UserID) }} className="row-link break-all">
          {UserEmail}
        </Link>
      ),
  },
  { id: 'state', title: own.columns.state, cell: request => <RequestStatePill request={request} /> },
  { id: 'created', title: own.columns.created, cell: ({ CreatedAt }) => CreatedAt },
];

const readState = (text: string | undefined): RequestState | undefined =>
  text === 'all' ? undefined : (requestStates.find(it => it === text) ?? 'pending');

export function RequestListPage() {
  const { p = 1, state: chosen } = useSearch({ from: '/shell/admin/access_requests' });
  const { change } = useListChange();
  const state = readState(chosen);
  const query = { page: p, per_page: adminPageRows, ...(state ? { status: state } : {}) };
  const list = useOperation('GET /portal-api/access_requests', { query }, { keepPrevious: true });
  const bulk = useBulkDecision();
  return (
    <PageFrame title={own.title} about={own.about}>
      <FailureText failures={bulk.failures} />
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={({ ID, Client }) => own.nameOf(ID, Client)}
        {...(state === 'pending' ? { selection: bulk.selection } : {})}
        toolbar={
          <search>
            <FilterSelect
              label={own.columns.state}
              value={chosen ?? 'pending'}
              onChange={event => change({ state: event.target.value })}
              options={[
                ...requestStates.map(value => ({ value, label: own.states[value] })),
                { value: 'all', label: own.anyState },
              ]}
            />
          </search>
        }
        empty={{ icon: Inbox, title: own.emptyOf[state ?? 'all'], about: own.emptyAbout }}
      />
      {bulk.dialog}
    </PageFrame>
  );
}

/** Failures of a bulk decision by request; the failed ones stay selected for another attempt. */
const FailureText = ({ failures }: { failures: readonly DecisionFailure[] }) => (
  <ErrorText
    error={
      failures.length > 0 ? new Error(failures.map(({ id, reason }) => own.failedOne(id, reason)).join(' ')) : null
    }
  />
);

function useBulkDecision() {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [failures, setFailures] = useState<readonly DecisionFailure[]>([]);
  const [isRejecting, setRejecting] = useState(false);
  const { isBusy, decide } = useDecisions();
  const toasts = useToasts();
  const run = async (decision: Decision, reason?: string) => {
    const failed = await decide(decision, [...ids].map(Number), { reason });
    setFailures(failed);
    if (failed.length < ids.size) toasts.showSuccess(own.decided[decision](ids.size - failed.length));
    setIds(new Set(failed.map(({ id }) => String(id))));
    setRejecting(false);
  };
  const actions = (
    <>
      <Button isBusy={isBusy} onClick={() => setRejecting(true)}>
        {own.rejectSelected}
      </Button>
      <Button kind="primary" isBusy={isBusy} onClick={() => void run('approve')}>
        {own.approveSelected}
      </Button>
    </>
  );
  const dialog = isRejecting && (
    <RejectDialog
      count={ids.size}
      isBusy={isBusy}
      onReject={reason => run('reject', reason)}
      onClose={() => setRejecting(false)}
    />
  );
  return { failures, selection: { ids, onChange: setIds, actions }, dialog };
}
