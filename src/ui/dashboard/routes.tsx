import type { QueryClient } from '@tanstack/react-query';
import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { accessRoutes } from './access-routes.tsx';
import { usageFilterNames } from './analytics/usage-filters.ts';
import { eventRoutes } from './event-routes.tsx';
import { readListSearch } from './list-search.ts';
import { logFilterNames } from './logs/log-filters.ts';
import { peopleRoutes } from './people-routes.tsx';
import { rootRoute, shellRoute } from './root-routes.tsx';
import { FailedPage } from './shell/fault-pages.tsx';
import { systemRoutes } from './system-routes.tsx';

/** Routes of the dashboard. Each page is a chunk of its own; `staticData.permission` is what reading it needs. */

const login = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: (search: Record<string, unknown>) => (typeof search.next === 'string' ? { next: search.next } : {}),
  component: lazyRouteComponent(() => import('./sign-in/sign-in-page.tsx'), 'SignInPage'),
});

const forgotten = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login/forgotten',
  component: lazyRouteComponent(() => import('./sign-in/forgotten-page.tsx'), 'ForgottenPage'),
});

const home = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./home/home-page.tsx'), 'HomePage'),
});

const apis = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis',
  staticData: { permission: 'apis' },
  validateSearch: readListSearch('auth_type', 'state', 'format'),
  component: lazyRouteComponent(() => import('./apis/api-list-page.tsx'), 'ApiListPage'),
});

const newApi = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/new',
  staticData: { permission: 'apis:write' },
  component: lazyRouteComponent(() => import('./apis/new-api-page.tsx'), 'NewApiPage'),
});

const api = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId',
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./apis/api-page.tsx'), 'ApiPage'),
});

const apiCode = createRoute({
  getParentRoute: () => shellRoute,
  path: '/apis/$apiId/code',
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./apis/api-code-page.tsx'), 'ApiCodePage'),
});

const logs = createRoute({
  getParentRoute: () => shellRoute,
  path: '/logs',
  staticData: { permission: 'log' },
  validateSearch: readListSearch(...logFilterNames),
  component: lazyRouteComponent(() => import('./logs/log-page.tsx'), 'LogPage'),
});

const analytics = createRoute({
  getParentRoute: () => shellRoute,
  path: '/analytics',
  staticData: { permission: 'analytics' },
  validateSearch: readListSearch(...usageFilterNames),
  component: lazyRouteComponent(() => import('./analytics/analytics-page.tsx'), 'AnalyticsPage'),
});

const routeTree = rootRoute.addChildren([
  login,
  forgotten,
  shellRoute.addChildren([
    home,
    apis,
    newApi,
    api,
    apiCode,
    logs,
    analytics,
    ...accessRoutes,
    ...eventRoutes,
    ...peopleRoutes,
    ...systemRoutes,
  ]),
]);

export const createDashboardRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: FailedPage,
  });

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: ReturnType<typeof createDashboardRouter>;
  }
}
