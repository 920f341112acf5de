import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';
import type { ApiOutline } from './api-outline.ts';

const own = texts.apis;
const tab = 'shrink-0 border-b-2 border-transparent px-1 py-2 text-dim hover:text-ink';
const activeTab = { className: 'border-accent! text-ink!', 'aria-current': 'page' as const };

const tabs = [
  ['/apis/$apiId', own.tabs.overview],
  ['/apis/$apiId/settings', own.tabs.settings],
  ['/apis/$apiId/endpoints', own.tabs.endpoints],
  ['/apis/$apiId/try', own.tabs.try],
  ['/apis/$apiId/versions', own.tabs.versions],
  ['/apis/$apiId/consumers', own.tabs.consumers],
  ['/apis/$apiId/code', own.tabs.code],
  ['/apis/$apiId/history', own.tabs.history],
] as const;

const schemaTab = ['/apis/$apiId/schema', own.tabs.schema] as const;

/** Head of every page about one API: name, state, tabs. */
export function ApiHead({ api, actions, children }: { api: ApiOutline; actions?: ReactNode; children: ReactNode }) {
  const params = { apiId: api.id };
  const shown = api.isGraphql ? [...tabs.slice(0, 2), schemaTab, ...tabs.slice(2)] : tabs;
  return (
    <PageFrame title={api.name || api.id} status={<ServedPill api={api} />} actions={actions}>
      <nav aria-label={api.name} className="mb-4 flex gap-4 overflow-x-auto border-b border-line px-1">
        {shown.map(([to, label]) => (
          <Link
            key={to}
            to={to}
            params={params}
            className={tab}
            activeProps={activeTab}
            activeOptions={{ exact: to === '/apis/$apiId', includeSearch: false }}
          >
            {label}
          </Link>
        ))}
      </nav>
      {children}
    </PageFrame>
  );
}

/** State of the API on the gateway, with the reason where it is not served. */
function ServedPill({ api }: { api: ApiOutline }) {
  const { data } = useOperation('GET /api/apis/{apiId}/status', { params: { apiId: api.id } });
  if (!api.isActive) return <StatusPill tone="neutral">{own.inactive}</StatusPill>;
  if (!data) return null;
  const { served, reason } = data.value;
  return served ? (
    <StatusPill tone="success">{own.served}</StatusPill>
  ) : (
    <StatusPill tone="danger">{reason ? `${own.notServed}: ${reason}` : own.notServed}</StatusPill>
  );
}
