import { Stethoscope } from 'lucide-react';
import { useMemo } from 'react';
import { Button } from '../../kit/button.tsx';
import { Card, FigureCard } from '../../kit/card.tsx';
import { Chart } from '../../kit/chart.tsx';
import { formatNumber } from '../../kit/format.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { systemTexts } from '../../texts/en/system.ts';
import { usePermission } from '../session/session.ts';
import { useNotifications } from '../shell/use-notifications.ts';
import { CacheCard } from './cache-card.tsx';
import { CertificateCard } from './certificate-card.tsx';
import { KeySetCard } from './key-set-card.tsx';
import { NodeTable } from './node-table.tsx';
import { NoticeList } from './notice-list.tsx';
import { QueueCard } from './queue-card.tsx';
import { ReloadButton } from './reload-button.tsx';
import { SettingsCard } from './settings-card.tsx';

const own = systemTexts;
const refreshMs = 10_000;

/** Processes, queues, key sets, settings, what needs attention, and the number of APIs; read again every ten seconds. */
export function StatusPage() {
  const canReadNotices = usePermission('websockets');
  const nodes = useOperation('GET /api/system/nodes', {}, { refetchIntervalMs: refreshMs });
  if (!nodes.data) return <QueryState query={nodes} />;
  const { data } = nodes.data.value;
  return (
    <PageFrame
      title={own.title}
      actions={
        <>
          <ReloadButton />
          <DiagnosticsButton nodes={data} canReadNotices={canReadNotices} />
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <div className="grid gap-4 min-[600px]:grid-cols-3">
          <FigureCard label={own.running} value={formatNumber(data.active_node_count)} />
          {data.revision !== undefined && (
            <FigureCard label={own.newest} value={own.newestValue(formatNumber(data.revision))} />
          )}
          <ApiCount />
        </div>
        {canReadNotices && <NoticeList />}
        <Card title={own.nodes}>
          {data.nodes.length === 0 ? (
            <p className="text-dim">{own.onlyCount}</p>
          ) : (
            <NodeTable nodes={data.nodes} newest={data.revision ?? 0} />
          )}
        </Card>
        {data.nodes.length > 0 && <QueueCard data={data} />}
        <KeySetCard nodes={data.nodes} />
        <CertificateCard nodes={data.nodes} />
        <CacheCard />
        <ApiHistory />
        {data.nodes.length > 0 && <SettingsCard />}
      </div>
    </PageFrame>
  );
}

const useStatistics = () => useOperation('GET /api/system/stats', { query: { entity: 'apis' } });

function ApiCount() {
  const today = useStatistics().data?.value.stats.apis.at(-1);
  if (!today) return null;
  return (
    <FigureCard
      label={own.apis}
      value={formatNumber(today.max_usage)}
      detail={own.activeApis(formatNumber(today.max_active_usage))}
    />
  );
}

/** Highest number of APIs of each day, where there is more than one day. */
function ApiHistory() {
  const query = useStatistics();
  const days = query.data?.value.stats.apis;
  const chart = useMemo(
    () =>
      days && {
        times: days.map(({ date }) => Date.parse(date) / 1000),
        series: [
          { label: own.allApis, values: days.map(({ max_usage }) => max_usage) },
          { label: own.active, values: days.map(({ max_active_usage }) => max_active_usage) },
        ],
      },
    [days],
  );
  if (!chart || chart.times.length < 2) return null;
  const today = formatNumber(days?.at(-1)?.max_usage ?? 0);
  return (
    <Card title={own.history}>
      <Chart summary={own.historySummary(today)} {...chart} />
    </Card>
  );
}

interface DiagnosticsButtonProps {
  readonly nodes: unknown;
  readonly canReadNotices: boolean;
}

/** Copies what support asks for: it has no secrets, since the server sends none here. */
function DiagnosticsButton({ nodes, canReadNotices }: DiagnosticsButtonProps) {
  const toasts = useToasts();
  const notices = useNotifications(canReadNotices);
  const copy = () => {
    const notifications = notices.data?.value.notifications.map(({ topic, kind, title }) => ({ topic, kind, title }));
    const text = JSON.stringify({ nodes, notifications }, null, 2);
    navigator.clipboard.writeText(text).then(
      () => toasts.showSuccess(own.diagnosticsCopied),
      (error: unknown) => toasts.showError(String(error)),
    );
  };
  return (
    <Button icon={Stethoscope} onClick={copy}>
      {own.diagnostics}
    </Button>
  );
}
