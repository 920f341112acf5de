import { Link } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { Badge } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import type { Column } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import { createListPage } from '../lists/list-page.tsx';
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

export const PlanListPage = createListPage({
  texts: own,
  path: '/admin/plans',
  icon: Gauge,
  columns,
  useRows: query => useOperation('GET /portal-api/plans', { query }, { keepPrevious: true }),
  nameOf: plan => plan.DisplayName || plan.Name,
  searchLabel: adminTexts.forms.search,
});
