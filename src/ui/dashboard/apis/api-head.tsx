import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { useCurrentInView } from '../../kit/current-in-view.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { FavouriteButton } from '../shell/favourite-button.tsx';
import type { ApiOutline } from './api-outline.ts';

const own = texts.apis;
const tab = 'shrink-0 border-b-2 border-transparent px-1 py-2 text-dim hover:text-ink';
const activeTab = { className: 'border-accent! text-ink!', 'aria-current': 'page' as const };

/** A gateway reports a state some time after the change that causes it. */
const refetchIntervalMs = 5_000;

const tryPath = '/apis/$apiId/try';
const tabs = [
  ['/apis/$apiId', own.tabs.overview],
  ['/apis/$apiId/settings', own.tabs.settings],
  ['/apis/$apiId/endpoints', own.tabs.endpoints],
  [tryPath, own.tabs.try],
  ['/apis/$apiId/versions', own.tabs.versions],
  ['/apis/$apiId/consumers', own.tabs.consumers],
  ['/apis/$apiId/code', own.tabs.code],
  ['/apis/$apiId/history', own.tabs.history],
] as const;

const schemaTab = ['/apis/$apiId/schema', own.tabs.schema] as const;
const sourcesTab = ['/apis/$apiId/graph', own.tabs.graph] as const;
const persistedTab = ['/apis/$apiId/persisted', own.tabs.persisted] as const;
const playgroundTab = ['/apis/$apiId/playground', own.tabs.playground] as const;

/** Endpoints of a GraphQL API are operations of its schema. */
function listTabs({ isGraphql, hasSources }: ApiOutline, canTry: boolean) {
  const shown = tabs.filter(([to]) => canTry || to !== tryPath);
  if (!isGraphql) return shown;
  const ofGraph = [schemaTab, ...(hasSources ? [sourcesTab] : []), playgroundTab, persistedTab];
  return [...shown.slice(0, 2), ...ofGraph, ...shown.slice(2)];
}

/** Head of every page about one API: name, state, tabs. */
export function ApiHead({ api, actions, children }: { api: ApiOutline; actions?: ReactNode; children: ReactNode }) {
  const params = { apiId: api.id };
  const tabList = useCurrentInView();
  const canTry = usePermission('apis:write');
  const status = (
    <>
      <ServedPill api={api} />
      <FavouriteButton kind="apis" id={api.id} name={api.name} />
    </>
  );
  return (
    <PageFrame title={api.name || api.id} status={status} actions={actions}>
      <nav ref={tabList} aria-label={api.name} className="mb-4 flex gap-4 overflow-x-auto border-b border-line">
        {listTabs(api, canTry).map(([to, label]) => (
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
  const given = { params: { apiId: api.id } };
  const { data } = useOperation('GET /api/apis/{apiId}/status', given, { refetchIntervalMs });
  if (!api.isActive) return <StatusPill tone="neutral">{own.inactive}</StatusPill>;
  if (!data) return null;
  const { served, reason } = data.value;
  return served ? (
    <StatusPill tone="success">{own.served}</StatusPill>
  ) : (
    <StatusPill tone="danger">{reason ? `${own.notServed}: ${reason}` : own.notServed}</StatusPill>
  );
}
