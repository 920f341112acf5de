import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, Webhook } from 'lucide-react';
import { useMemo, useState } from 'react';
import { MethodBadge } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useListChange } from '../../kit/list-search.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { listColumnTexts } from '../../texts/en/list-columns.ts';
import { webhookTexts } from '../../texts/en/webhooks.ts';
import { usePermission } from '../session/session.ts';
import { DeleteHookDialog } from './delete-hook-dialog.tsx';
import { type HookData, hostOf, nameHook } from './hook-draft.ts';
import { type HookHealth, HookState, HookSuccess, useHealthOfPage } from './hook-health.tsx';
import { HookUses } from './hook-uses.tsx';

const own = webhookTexts;
const formatPending = (health: HookHealth | undefined) => (health ? formatNumber(health.pending) : null);

const createColumns = (
  healthOf: ReturnType<typeof useHealthOfPage>,
  hookIds: readonly string[],
): readonly Column<HookData>[] => [
  {
    id: 'name',
    title: own.columns.name,
    cell: hook => (
      <Link to="/webhooks/$hookId" params={{ hookId: hook.id }} className="row-link">
        {nameHook(hook)}
      </Link>
    ),
  },
  { id: 'method', title: own.columns.method, cell: ({ method }) => <MethodBadge method={method} /> },
  {
    id: 'host',
    title: own.columns.host,
    cell: ({ target_path }) => <code className="font-mono text-small break-all">{hostOf(target_path)}</code>,
  },
  { id: 'uses', title: listColumnTexts.usedBy, cell: ({ id }) => <HookUses hookId={id} hookIds={hookIds} /> },
  { id: 'state', title: own.columns.state, cell: ({ id }) => <HookState health={healthOf(id)} /> },
  {
    id: 'success',
    title: own.columns.success,
    align: 'right',
    cell: ({ id }) => <HookSuccess health={healthOf(id)} />,
  },
  { id: 'queue', title: own.columns.queue, align: 'right', cell: ({ id }) => formatPending(healthOf(id)) },
  {
    id: 'last',
    title: own.columns.last,
    cell: ({ id }) => <TimeText time={healthOf(id)?.last_success_at ?? undefined} />,
  },
];

export function HookListPage() {
  const canWrite = usePermission('hooks:write');
  const create = canWrite && (
    <Link to="/webhooks/new" data-new className={buttonClass('primary')}>
      <Plus size={16} aria-hidden />
      {own.create}
    </Link>
  );
  return (
    <PageFrame title={own.title} actions={create}>
      <HookList canWrite={canWrite} />
    </PageFrame>
  );
}

function HookList({ canWrite }: { canWrite: boolean }) {
  const { p = 1 } = useSearch({ from: '/shell/webhooks' });
  const { change } = useListChange();
  const navigate = useNavigate();
  const [pending, setPending] = useState<HookData>();
  const list = useOperation('GET /api/hooks', { query: { p } }, { keepPrevious: true });
  const healthOf = useHealthOfPage(p);
  const hookIds = useMemo(() => list.data?.value.hooks.map(({ id }) => id) ?? [], [list.data]);
  const columns = useMemo(() => createColumns(healthOf, hookIds), [healthOf, hookIds]);
  if (!list.data) return <QueryState query={list} />;
  const { hooks, pages } = list.data.value;
  if (hooks.length === 0 && p === 1)
    return (
      <Notice icon={Webhook} title={own.emptyTitle}>
        {own.emptyAbout}
      </Notice>
    );
  const actionsOf = (hook: HookData) => [
    { label: own.open, onSelect: () => void navigate({ to: '/webhooks/$hookId', params: { hookId: hook.id } }) },
    'line' as const,
    { label: own.delete, isDanger: true, onSelect: () => setPending(hook) },
  ];
  return (
    <>
      <DataTable
        label={own.list}
        rows={hooks}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={nameHook}
        page={p}
        pages={pages}
        onPage={next => change({ p: next })}
        isRefreshing={list.isFetching}
        {...(canWrite ? { actions: actionsOf } : {})}
      />
      <DeleteHookDialog hook={pending} onClose={() => setPending(undefined)} />
    </>
  );
}
