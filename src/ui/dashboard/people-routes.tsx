import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from './list-search.ts';
import { shellRoute } from './root-routes.tsx';

/** Routes of users, groups and sign-on profiles. */

const users = createRoute({
  getParentRoute: () => shellRoute,
  path: '/users',
  staticData: { permission: 'users' },
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./users/user-list-page.tsx'), 'UserListPage'),
});

const newUser = createRoute({
  getParentRoute: () => shellRoute,
  path: '/users/new',
  staticData: { permission: 'users:write' },
  component: lazyRouteComponent(() => import('./users/new-user-page.tsx'), 'NewUserPage'),
});

export const peopleRoutes = [users, newUser] as const;
