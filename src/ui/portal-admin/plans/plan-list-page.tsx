import { Link, useSearch } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { Badge } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { AdminList, adminPageRows, CreateLink } from '../lists/admin-list.tsx';
import { describePlanLimits } from './plan-limits.ts';

const own = adminTexts.plans;

type PlanItem = ResultOf<'GET /portal-api/plans'>[number];

const columns: readonly Column<PlanItem>[] = [
  {
    id: 'name',
    title: own.columns.name,
    cell: plan => (
      <Link to="/admin/plans/$planId" params={{ planId: String(plan.ID) }} className="row-link">
        {plan.DisplayName || plan.Name}
      </Link>
    ),
  },
  { id: 'limits', title: own.columns.limits, cell: describePlanLimits },
  {
    id: 'approval',
    title: own.columns.approval,
    cell: ({ AutoApproveAccessRequests }) => (AutoApproveAccessRequests ? own.automatic : own.manual),
  },
  {
    id: 'catalogues',
    title: own.columns.catalogues,
    cell: ({ Catalogues }) =>
      Catalogues.length > 0 ? Catalogues.length : <Badge tone="warning">{adminTexts.catalogues.none}</Badge>,
  },
];

export function PlanListPage() {
  const { p = 1, q = '' } = useSearch({ from: '/shell/admin/plans' });
  const query = { page: p, per_page: adminPageRows, q };
  const list = useOperation('GET /portal-api/plans', { query }, { keepPrevious: true });
  return (
    <PageFrame title={own.title} about={own.about} actions={<CreateLink to="/admin/plans/new" label={own.create} />}>
      <AdminList
        label={own.title}
        query={list}
        page={p}
        columns={columns}
        idOf={({ ID }) => String(ID)}
        nameOf={plan => plan.DisplayName || plan.Name}
        search={{ label: adminTexts.forms.search, value: q }}
        empty={{ icon: Gauge, title: own.emptyTitle, about: own.emptyAbout }}
      />
    </PageFrame>
  );
}
