import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { usageFilterNames } from './analytics/usage-filters.ts';
import { readListSearch } from './list-search.ts';
import { logFilterNames } from './logs/log-filters.ts';
import { loadSession } from './session/session.ts';
import { FailedPage, NotFoundPage } from './shell/fault-pages.tsx';
import { Shell } from './shell/shell.tsx';

/** Routes of the dashboard. Each page is a chunk of its own; `staticData.permission` is what reading it needs. */

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Permission that the page needs, such as `apis` or `apis:write`. */
    readonly permission?: string;
  }
}

interface RouterContext {
  readonly queryClient: QueryClient;
}

const root = createRootRouteWithContext<RouterContext>()({ component: Outlet, notFoundComponent: NotFoundPage });

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  async beforeLoad({ context, location }) {
    const session = await loadSession(context.queryClient);
    if (!session) throw redirect({ to: '/login', search: { next: location.href } });
  },
});

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: (search: Record<string, unknown>) => (typeof search.next === 'string' ? { next: search.next } : {}),
  component: lazyRouteComponent(() => import('./sign-in/sign-in-page.tsx'), 'SignInPage'),
});

const forgotten = createRoute({
  getParentRoute: () => root,
  path: '/login/forgotten',
  component: lazyRouteComponent(() => import('./sign-in/forgotten-page.tsx'), 'ForgottenPage'),
});

const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: lazyRouteComponent(() => import('./home/home-page.tsx'), 'HomePage'),
});

const apis = createRoute({
  getParentRoute: () => shell,
  path: '/apis',
  staticData: { permission: 'apis' },
  validateSearch: readListSearch('auth_type', 'state', 'format'),
  component: lazyRouteComponent(() => import('./apis/api-list-page.tsx'), 'ApiListPage'),
});

const newApi = createRoute({
  getParentRoute: () => shell,
  path: '/apis/new',
  staticData: { permission: 'apis:write' },
  component: lazyRouteComponent(() => import('./apis/new-api-page.tsx'), 'NewApiPage'),
});

const api = createRoute({
  getParentRoute: () => shell,
  path: '/apis/$apiId',
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./apis/api-page.tsx'), 'ApiPage'),
});

const apiCode = createRoute({
  getParentRoute: () => shell,
  path: '/apis/$apiId/code',
  staticData: { permission: 'apis' },
  component: lazyRouteComponent(() => import('./apis/api-code-page.tsx'), 'ApiCodePage'),
});

const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  staticData: { permission: 'keys' },
  validateSearch: readListSearch('state'),
  component: lazyRouteComponent(() => import('./keys/key-list-page.tsx'), 'KeyListPage'),
});

const newKey = createRoute({
  getParentRoute: () => shell,
  path: '/keys/new',
  staticData: { permission: 'keys:write' },
  component: lazyRouteComponent(() => import('./keys/new-key-page.tsx'), 'NewKeyPage'),
});

const policies = createRoute({
  getParentRoute: () => shell,
  path: '/policies',
  staticData: { permission: 'policies' },
  validateSearch: readListSearch('state'),
  component: lazyRouteComponent(() => import('./policies/policy-list-page.tsx'), 'PolicyListPage'),
});

const logs = createRoute({
  getParentRoute: () => shell,
  path: '/logs',
  staticData: { permission: 'log' },
  validateSearch: readListSearch(...logFilterNames),
  component: lazyRouteComponent(() => import('./logs/log-page.tsx'), 'LogPage'),
});

const analytics = createRoute({
  getParentRoute: () => shell,
  path: '/analytics',
  staticData: { permission: 'analytics' },
  validateSearch: readListSearch(...usageFilterNames),
  component: lazyRouteComponent(() => import('./analytics/analytics-page.tsx'), 'AnalyticsPage'),
});

const users = createRoute({
  getParentRoute: () => shell,
  path: '/users',
  staticData: { permission: 'users' },
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./users/user-list-page.tsx'), 'UserListPage'),
});

const newUser = createRoute({
  getParentRoute: () => shell,
  path: '/users/new',
  staticData: { permission: 'users:write' },
  component: lazyRouteComponent(() => import('./users/new-user-page.tsx'), 'NewUserPage'),
});

const routeTree = root.addChildren([
  login,
  forgotten,
  shell.addChildren([home, apis, newApi, api, apiCode, keys, newKey, policies, logs, analytics, users, newUser]),
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
