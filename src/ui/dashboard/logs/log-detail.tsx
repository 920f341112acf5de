import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { MethodBadge, StatusPill } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import { FactList } from '../../kit/card.tsx';
import { CommandText } from '../../kit/command-text.tsx';
import { CopyButton } from '../../kit/copy.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { formatMs, formatNumber, formatTime } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';
import { RefusedLimit } from '../limits/refused-limit.tsx';
import { usePermission } from '../session/session.ts';
import { describeKey, hasKey, statusTone } from './log-columns.tsx';
import type { TailedRequest } from './log-filters.ts';
import { toLoggedCurl } from './logged-curl.ts';
import { RecordedMessages } from './recorded-messages.tsx';
import { RefusalText } from './refusal-text.tsx';

const own = texts.logs;

interface LogDetailProps {
  readonly call: TailedRequest;
  onClose(): void;
  onFilter(change: { readonly api_id?: string; readonly key?: string }): void;
}

/** One request: what it was, where its time went, and what was recorded of it. */
export function LogDetail({ call, onClose, onFilter }: LogDetailProps) {
  const filter: LogDetailProps['onFilter'] = change => {
    onFilter(change);
    onClose();
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      width="wide"
      title={own.detail}
      about={<LoggedTarget call={call} />}
      footer={
        <Link to="/logs/$logId" params={{ logId: call.id }} className={buttonClass('secondary')}>
          {own.ownPage}
        </Link>
      }
    >
      <LogContent call={call} onFilter={filter} />
    </Dialog>
  );
}

export const LoggedTarget = ({ call }: Pick<LogDetailProps, 'call'>) => (
  <span className="flex flex-wrap items-center gap-2">
    <MethodBadge method={call.method} />
    <code className="font-mono text-small break-all text-ink">{call.raw_path}</code>
  </span>
);

/** Origin of the API, as its page shows it; without permission to read APIs the host that the client sent. */
function useApiOrigin({ api_id: apiId, host }: TailedRequest): string {
  const canReadApis = usePermission('apis');
  const { data } = useOperation(
    'GET /api/apis/{apiId}/url',
    { params: { apiId } },
    { enabled: canReadApis && apiId !== '' },
  );
  const url = data ? URL.parse(data.value.ApiURL) : null;
  return url ? url.origin : `${window.location.protocol}//${host}`;
}

function LoggedCommand({ call }: Pick<LogDetailProps, 'call'>) {
  const origin = useApiOrigin(call);
  return (
    <section aria-label={own.asCurl} className="flex flex-col gap-1.5">
      <h3 className="text-body">{own.asCurl}</h3>
      <p className="text-small text-dim">{own.asCurlAbout}</p>
      <CommandText command={toLoggedCurl(call, hasKey(call), origin)} label={own.copyCurl} />
    </section>
  );
}

export function LogContent({ call, onFilter }: Pick<LogDetailProps, 'call' | 'onFilter'>) {
  return (
    <div className="flex flex-col gap-5">
      <DurationBar call={call} />
      {call.refusal && (
        <section
          aria-label={call.upstream_error ? own.failed : own.refused}
          className="flex flex-col gap-3 rounded-card border border-danger-line bg-danger-soft p-3"
        >
          <h3 className="text-body">{call.upstream_error ? own.failed : own.refused}</h3>
          <RefusalText code={call.refusal} />
          {call.upstream_error && <UpstreamFailure apiId={call.api_id} reason={call.upstream_error} />}
          <RefusedLimit refusal={call.refusal} apiId={call.api_id} keyHash={hasKey(call) ? call.api_key : ''} />
        </section>
      )}
      <FactList rows={listFacts(call)} />
      <RecordedMessages call={call} />
      <LoggedCommand call={call} />
      <LogLinks call={call} onFilter={onFilter} />
    </div>
  );
}

/** Failure of the connection to the upstream, with a link to the setting of its address. */
function UpstreamFailure({ apiId, reason }: { readonly apiId: string; readonly reason: string }) {
  const canOpenApi = usePermission('apis');
  return (
    <>
      <code className="font-mono text-small break-words">{reason}</code>
      {canOpenApi && (
        <p>
          <Link
            to="/apis/$apiId/settings"
            params={{ apiId }}
            search={{ section: 'upstream' }}
            className="text-accent-ink hover:underline"
          >
            {own.changeUpstream}
          </Link>
        </p>
      )}
    </>
  );
}

/** Requests like this one, its API, and another try of it. */
function LogLinks({ call, onFilter }: Pick<LogDetailProps, 'call' | 'onFilter'>) {
  const canOpenApi = usePermission('apis');
  const canTry = usePermission('apis:write');
  const link = buttonClass('secondary');
  return (
    <div className="flex flex-wrap gap-2">
      <button type="button" className={link} onClick={() => onFilter({ api_id: call.api_id })}>
        {own.sameApi}
      </button>
      {hasKey(call) && (
        <button type="button" className={link} onClick={() => onFilter({ key: call.api_key })}>
          {own.sameKey}
        </button>
      )}
      {canTry && (
        <Link
          to="/apis/$apiId/try"
          params={{ apiId: call.api_id }}
          search={{ method: call.method, path: call.original_path || call.path }}
          className={link}
        >
          {own.tryAgain}
        </Link>
      )}
      {canOpenApi && (
        <Link to="/apis/$apiId" params={{ apiId: call.api_id }} className={link}>
          {own.openApi}
        </Link>
      )}
    </div>
  );
}

/** Share of the gateway and of the upstream in the duration. */
function DurationBar({ call: { latency } }: { call: TailedRequest }) {
  const { total, upstream, gateway } = latency;
  const share = total > 0 ? Math.min(100, (upstream / total) * 100) : 0;
  return (
    <section aria-label={own.duration} className="flex flex-col gap-1.5">
      <p className="flex flex-wrap gap-x-4">
        <span className="font-medium">{formatMs(total)}</span>
        <LegendEntry colour="bg-(--series-1)">{own.gatewayPart(formatMs(gateway))}</LegendEntry>
        <LegendEntry colour="bg-(--series-2)">{own.upstreamPart(formatMs(upstream))}</LegendEntry>
      </p>
      <div aria-hidden className="flex h-2 overflow-hidden rounded-full bg-(--series-1)">
        <div className="ml-auto bg-(--series-2)" style={{ width: `${share}%` }} />
      </div>
    </section>
  );
}

const LegendEntry = ({ colour, children }: { colour: string; children: ReactNode }) => (
  <span className="inline-flex items-center gap-1.5 text-dim">
    <span aria-hidden className={`size-2 rounded-full ${colour}`} />
    {children}
  </span>
);

/** Whole, on several lines where the screen is narrow: it is compared with other logs. */
const RequestId = ({ id }: { id: string }) => (
  <span className="flex items-center gap-1">
    <code className="min-w-0 font-mono text-small break-all">{id}</code>
    <CopyButton text={id} label={own.copyRequestId} />
  </span>
);

/** Facts that the request has; absent ones are left out. */
/** Version of requests to an API without versions. */
const unversioned = 'Non Versioned';

function listFacts(call: TailedRequest): readonly (readonly [string, ReactNode])[] {
  const names = own.facts;
  const mono = (text: string) => text && <code className="font-mono text-small break-all">{text}</code>;
  const status = <StatusPill tone={statusTone(call.response_code)}>{call.response_code}</StatusPill>;
  const rows: readonly (readonly [string, ReactNode])[] = [
    [names.status, status],
    [names.upstreamError, call.refusal ? '' : call.upstream_error],
    [names.time, formatTime(Date.parse(call.timestamp))],
    [names.api, call.api_name || call.api_id],
    [names.version, call.api_version === unversioned ? '' : call.api_version],
    [names.key, describeKey(call)],
    [names.client, mono(call.oauth_id)],
    [names.requestId, call.request_id && <RequestId id={call.request_id} />],
    [names.host, mono(call.host)],
    [names.address, mono(call.ip_address)],
    [names.country, call.geo?.country.iso_code],
    [names.agent, call.user_agent],
    [names.sizes, own.sizes(formatNumber(call.content_length), formatNumber(call.response_length))],
    [names.tags, mono(call.tags.join(', '))],
  ];
  return rows.filter(([, value]) => value);
}
