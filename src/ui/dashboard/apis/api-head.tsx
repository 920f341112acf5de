import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';
import type { ApiOutline } from './api-outline.ts';

const own = texts.apis;
const tab = '-mb-px border-b-2 border-transparent px-1 py-2 text-dim hover:text-ink';
const activeTab = { className: 'border-accent! text-ink!', 'aria-current': 'page' as const };

/** Head of every page about one API: name, state, tabs. */
export function ApiHead({ api, actions, children }: { api: ApiOutline; actions?: ReactNode; children: ReactNode }) {
  const params = { apiId: api.id };
  return (
    <PageFrame title={api.name || api.id} status={<ServedPill api={api} />} actions={actions}>
      <nav aria-label={api.name} className="mb-4 flex gap-4 border-b border-line">
        <Link to="/apis/$apiId" params={params} className={tab} activeProps={activeTab} activeOptions={{ exact: true }}>
          {own.tabs.overview}
        </Link>
        <Link to="/apis/$apiId/code" params={params} className={tab} activeProps={activeTab}>
          {own.tabs.code}
        </Link>
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
