import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../kit/list-search.ts';
import { readRevisionSearch } from './history/revision-search.ts';
import { idParam } from './reserved-ids.ts';
import { shellRoute } from './root-routes.tsx';

const apis = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis',
  staticData: { permission: 'apis' },
  validateSearch: readListSearch('auth_type', 'state', 'format', 'category', 'api_type', 'owned'),
  component: lazyRouteComponent(() => import('./apis/api-list-page.tsx'), 'ApiListPage'),
});

const newApi = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/new',
  staticData: { permission: 'apis:write' },
  component: lazyRouteComponent(() => import('./apis/new-api-page.tsx'), 'NewApiPage'),
});

const importApi = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/import',
  staticData: { permission: 'apis:write' },
  component: lazyRouteComponent(() => import('./apis/import/import-page.tsx'), 'ImportApiPage'),
});

const api = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId',
  params: idParam('apiId'),
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./apis/api-page.tsx'), 'ApiPage'),
});

const apiSettings = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/settings',
  params: idParam('apiId'),
  staticData: { permission: 'apis' },
  validateSearch: readListSearch('section'),
  component: lazyRouteComponent(() => import('./apis/designer/settings-page.tsx'), 'ApiSettingsPage'),
});

const apiTry = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/try',
  params: idParam('apiId'),
  staticData: { permission: 'apis' },
  validateSearch: readListSearch('method', 'path'),
  component: lazyRouteComponent(() => import('./apis/try/try-page.tsx'), 'TryApiPage'),
});

const apiHistory = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/history',
  params: idParam('apiId'),
  staticData: { permission: 'apis' },
  validateSearch: readRevisionSearch,
  component: lazyRouteComponent(() => import('./history/history-page.tsx'), 'ApiHistoryPage'),
});

const apiEndpoints = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/endpoints',
  params: idParam('apiId'),
  staticData: { permission: 'apis' },
  validateSearch: readListSearch('endpoint', 'method', 'with'),
  component: lazyRouteComponent(() => import('./apis/endpoints/endpoints-page.tsx'), 'ApiEndpointsPage'),
});

const apiVersions = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/versions',
  params: idParam('apiId'),
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./apis/versions/versions-page.tsx'), 'ApiVersionsPage'),
});

const apiConsumers = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/consumers',
  params: idParam('apiId'),
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./apis/consumers/consumers-page.tsx'), 'ApiConsumersPage'),
});

const apiCode = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/code',
  params: idParam('apiId'),
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./apis/api-code-page.tsx'), 'ApiCodePage'),
});

const apiMigration = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/migrate',
  params: idParam('apiId'),
  staticData: { permission: 'apis:write' },
  component: lazyRouteComponent(() => import('./apis/migration/migration-page.tsx'), 'ApiMigrationPage'),
});

/** Pages about APIs. */
export const apiRoutes = [
  apis,
  newApi,
  importApi,
  api,
  apiSettings,
  apiTry,
  apiHistory,
  apiEndpoints,
  apiVersions,
  apiConsumers,
  apiCode,
  apiMigration,
] as const;
