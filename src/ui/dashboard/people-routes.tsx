import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../kit/list-search.ts';
import { readTabSearch } from '../kit/tab-search.ts';
import { idParam } from './reserved-ids.ts';
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

const user = createRoute({
  getParentRoute: () => shellRoute,
  path: '/users/$userId',
  params: idParam('userId'),
  staticData: { permission: 'users' },
  component: lazyRouteComponent(() => import('./users/user-page.tsx'), 'UserPage'),
});

const groups = createRoute({
  getParentRoute: () => shellRoute,
  path: '/user-groups',
  staticData: { permission: 'user_groups' },
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./groups/group-list-page.tsx'), 'GroupListPage'),
});

const newGroup = createRoute({
  getParentRoute: () => shellRoute,
  path: '/user-groups/new',
  staticData: { permission: 'user_groups:write' },
  component: lazyRouteComponent(() => import('./groups/group-page.tsx'), 'NewGroupPage'),
});

const group = createRoute({
  getParentRoute: () => shellRoute,
  path: '/user-groups/$groupId',
  params: idParam('groupId'),
  staticData: { permission: 'user_groups' },
  component: lazyRouteComponent(() => import('./groups/group-page.tsx'), 'GroupPage'),
});

const profile = createRoute({
  getParentRoute: () => shellRoute,
  path: '/profile',
  validateSearch: readTabSearch('account', 'security', 'sessions', 'preferences'),
  component: lazyRouteComponent(() => import('./profile/profile-page.tsx'), 'ProfilePage'),
});

const signOn = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sign-on',
  staticData: { permission: 'idm' },
  validateSearch: readListSearch('state'),
  component: lazyRouteComponent(() => import('./sign-on/profile-list-page.tsx'), 'SignOnListPage'),
});

const newSignOn = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sign-on/new',
  staticData: { permission: 'idm:write' },
  component: lazyRouteComponent(() => import('./sign-on/profile-page.tsx'), 'NewSignOnProfilePage'),
});

const signOnProfile = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sign-on/$profileId',
  params: idParam('profileId'),
  staticData: { permission: 'idm' },
  component: lazyRouteComponent(() => import('./sign-on/profile-page.tsx'), 'SignOnProfilePage'),
});

export const peopleRoutes = [
  users,
  newUser,
  user,
  groups,
  newGroup,
  group,
  profile,
  signOn,
  newSignOn,
  signOnProfile,
] as const;
