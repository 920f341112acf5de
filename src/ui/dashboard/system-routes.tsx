import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../kit/list-search.ts';
import { auditFilterNames } from './audit/audit-filters.ts';
import { type RevisionSearch, readRevisionSearch } from './history/revision-search.ts';
import { idParam } from './reserved-ids.ts';
import { shellRoute } from './root-routes.tsx';

/** Routes of the introduction, of monitoring of the installation, and of the library. */

const readStep = (search: Record<string, unknown>) => (typeof search.api === 'string' ? { api: search.api } : {});

const welcome = createRoute({
  getParentRoute: () => shellRoute,
  path: '/welcome',
  staticData: { permission: 'apis:write' },
  validateSearch: readStep,
  component: lazyRouteComponent(() => import('./welcome/welcome-page.tsx'), 'WelcomePage'),
});

const audit = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  staticData: { permission: 'audit_logs' },
  validateSearch: readListSearch(...auditFilterNames),
  component: lazyRouteComponent(() => import('./audit/audit-page.tsx'), 'AuditPage'),
});

const readDeletedSearch = ({ tab, p }: Record<string, unknown>) => ({
  ...(typeof tab === 'string' ? { tab } : {}),
  ...(Number.isInteger(p) && Number(p) > 1 ? { p: Number(p) } : {}),
});

const deleted = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deleted',
  validateSearch: readDeletedSearch,
  component: lazyRouteComponent(() => import('./deleted/deleted-page.tsx'), 'DeletedPage'),
});

const history = createRoute({
  getParentRoute: () => shellRoute,
  path: '/history/$kind/$objectId',
  validateSearch: (search: Record<string, unknown>): RevisionSearch & { readonly name?: string } => ({
    ...readRevisionSearch(search),
    ...(typeof search.name === 'string' ? { name: search.name } : {}),
  }),
  component: lazyRouteComponent(() => import('./history/history-page.tsx'), 'HistoryPage'),
});

const uptime = createRoute({
  getParentRoute: () => shellRoute,
  path: '/uptime',
  staticData: { permission: 'analytics' },
  validateSearch: readListSearch('api_id', 'state', 'range', 'start', 'end'),
  component: lazyRouteComponent(() => import('./uptime/uptime-page.tsx'), 'UptimePage'),
});

const status = createRoute({
  getParentRoute: () => shellRoute,
  path: '/system',
  staticData: { permission: 'system' },
  validateSearch: readListSearch('changed'),
  component: lazyRouteComponent(() => import('./system/status-page.tsx'), 'StatusPage'),
});

const templates = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates',
  staticData: { permission: 'api_assets' },
  component: lazyRouteComponent(() => import('./library/template-list-page.tsx'), 'TemplateListPage'),
});

const newTemplate = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates/new',
  staticData: { permission: 'api_assets:write' },
  component: lazyRouteComponent(() => import('./library/new-template-page.tsx'), 'NewTemplatePage'),
});

const template = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates/$assetId',
  params: idParam('assetId'),
  staticData: { permission: 'api_assets' },
  component: lazyRouteComponent(() => import('./library/template-page.tsx'), 'TemplatePage'),
});

const examples = createRoute({
  getParentRoute: () => shellRoute,
  path: '/examples',
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./library/example-page.tsx'), 'ExamplePage'),
});

const mcpProxies = createRoute({
  getParentRoute: () => shellRoute,
  path: '/mcp-proxies',
  staticData: { permission: 'mcp' },
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./mcp/mcp-list-page.tsx'), 'McpListPage'),
});

const newMcpProxy = createRoute({
  getParentRoute: () => shellRoute,
  path: '/mcp-proxies/new',
  staticData: { permission: 'mcp:write' },
  component: lazyRouteComponent(() => import('./mcp/new-mcp-page.tsx'), 'NewMcpPage'),
});

const mcpProxy = createRoute({
  getParentRoute: () => shellRoute,
  path: '/mcp-proxies/$apiId',
  params: idParam('apiId'),
  staticData: { permission: 'mcp' },
  component: lazyRouteComponent(() => import('./mcp/mcp-page.tsx'), 'McpPage'),
});

const graphs = createRoute({
  getParentRoute: () => shellRoute,
  path: '/data-graphs',
  staticData: { permission: 'apis' },
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./graphql/graph-list-page.tsx'), 'GraphListPage'),
});

const graphSchema = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/schema',
  params: idParam('apiId'),
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./graphql/graph-schema-page.tsx'), 'GraphSchemaPage'),
});

const graphSources = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/graph',
  params: idParam('apiId'),
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./graphql/graph-sources-page.tsx'), 'GraphSourcesPage'),
});

const playground = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/playground',
  params: idParam('apiId'),
  staticData: { permission: 'apis:write' },
  component: lazyRouteComponent(() => import('./graphql/playground-page.tsx'), 'PlaygroundPage'),
});

const persisted = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/persisted',
  params: idParam('apiId'),
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./graphql/persisted-page.tsx'), 'PersistedPage'),
});

const settings = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  staticData: { permission: 'admin' },
  component: lazyRouteComponent(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
});

export const systemRoutes = [
  welcome,
  audit,
  deleted,
  history,
  uptime,
  status,
  templates,
  newTemplate,
  template,
  examples,
  mcpProxies,
  newMcpProxy,
  mcpProxy,
  graphs,
  graphSchema,
  graphSources,
  playground,
  persisted,
  settings,
] as const;
