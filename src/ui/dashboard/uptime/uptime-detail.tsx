import { Link } from '@tanstack/react-router';
import { StatusPill } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { formatMs, formatPercent, formatTime } from '../../kit/format.ts';
import { uptimeTexts as own } from '../../texts/en/uptime.ts';
import { usePermission } from '../session/session.ts';

type HostView = ResultOf<'GET /api/uptime'>['data'][number];
type TestView = HostView['last'];

/** The last test of a host and the changes of its state. */
export function UptimeDetail({ host, onClose }: { host: HostView; onClose(): void }) {
  const canOpenApi = usePermission('apis');
  return (
    <Dialog isOpen onClose={onClose} title={own.detail(host.host)} about={host.api_name} width="wide">
      <div className="flex flex-col gap-4">
        <p>{own.uptimeOfRange(formatPercent(host.uptime))}</p>
        <section className="flex flex-col gap-2">
          <h3 className="font-medium">{own.columns.last}</h3>
          <TestRow test={host.last} />
        </section>
        <section className="flex flex-col gap-2">
          <h3 className="font-medium">{own.changes}</h3>
          {host.results.length === 0 && <p className="text-dim">{own.noChanges}</p>}
          {host.results.map(test => (
            <TestRow key={test.at} test={test} />
          ))}
        </section>
        {canOpenApi && (
          <div>
            <Link to="/apis/$apiId" params={{ apiId: host.api_id }} className={buttonClass()}>
              {own.openApi}
            </Link>
          </div>
        )}
      </div>
    </Dialog>
  );
}

const TestRow = ({ test: { at, up, url, response_code, latency, error } }: { test: TestView }) => (
  <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-1.5 last:border-0">
    <StatusPill tone={up ? 'success' : 'danger'}>{up ? own.up : own.down}</StatusPill>
    <span>{formatTime(Date.parse(at))}</span>
    <code className="font-mono text-small break-all text-dim">{url}</code>
    <span className="ml-auto break-words text-dim">
      {error || `${own.status(response_code)}, ${formatMs(latency)}`}
    </span>
  </div>
);
