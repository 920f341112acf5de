import type { QueryClient } from '@tanstack/react-query';
import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../kit/list-search.ts';
import { FailedPage } from '../kit/shell/fault-pages.tsx';
import { accessRoutes } from './access-routes.tsx';
import { usageFilterNames } from './analytics/usage-filters.ts';
import { apiRoutes } from './api-routes.tsx';
import { eventRoutes } from './event-routes.tsx';
import { logFilterNames } from './logs/log-filters.ts';
import { peopleRoutes } from './people-routes.tsx';
import { idParam, rewriteReservedIds } from './reserved-ids.ts';
import { rootRoute, shellRoute, unknownRoute } from './root-routes.tsx';
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

const logs = createRoute({
  getParentRoute: () => shellRoute,
  path: '/logs',
  staticData: { permission: 'log' },
  validateSearch: readListSearch(...logFilterNames),
  component: lazyRouteComponent(() => import('./logs/log-page.tsx'), 'LogPage'),
});

const request = createRoute({
  getParentRoute: () => shellRoute,
  path: '/logs/$logId',
  params: idParam('logId'),
  staticData: { permission: 'log' },
  component: lazyRouteComponent(() => import('./logs/logged-request-page.tsx'), 'LoggedRequestPage'),
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
    logs,
    request,
    analytics,
    ...apiRoutes,
    ...accessRoutes,
    ...eventRoutes,
    ...peopleRoutes,
    ...systemRoutes,
    unknownRoute,
  ]),
]);

export const createDashboardRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    context: { queryClient },
    rewrite: rewriteReservedIds,
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: FailedPage,
  });

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: ReturnType<typeof createDashboardRouter>;
  }
}
