import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../kit/list-search.ts';
import { adminShellRoute } from './admin-root.tsx';

/** Routes of what developers ask for and use: access requests, apps, users, organisations. */

const requests = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/access_requests',
  validateSearch: readListSearch('state'),
  component: lazyRouteComponent(() => import('./requests/request-list-page.tsx'), 'RequestListPage'),
});

const request = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/access_requests/$requestId',
  component: lazyRouteComponent(() => import('./requests/request-page.tsx'), 'RequestPage'),
});

const apps = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/apps',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./apps/app-list-page.tsx'), 'AppListPage'),
});

const newApp = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/apps/new',
  component: lazyRouteComponent(() => import('./apps/app-page.tsx'), 'NewAppPage'),
});

const app = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/apps/$appId',
  component: lazyRouteComponent(() => import('./apps/app-page.tsx'), 'AppPage'),
});

const users = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/users',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./users/user-list-page.tsx'), 'PortalUserListPage'),
});

const newUser = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/users/new',
  component: lazyRouteComponent(() => import('./users/user-page.tsx'), 'NewPortalUserPage'),
});

const user = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/users/$userId',
  component: lazyRouteComponent(() => import('./users/user-page.tsx'), 'PortalUserPage'),
});

const organisations = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/organisations',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./organisations/organisation-list-page.tsx'), 'OrganisationListPage'),
});

const organisation = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/organisations/$organisationId',
  component: lazyRouteComponent(() => import('./organisations/organisation-page.tsx'), 'OrganisationPage'),
});

const credentials = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/credentials',
  validateSearch: readListSearch('state'),
  component: lazyRouteComponent(() => import('./credentials/credential-list-page.tsx'), 'CredentialListPage'),
});

const certificates = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/certificates',
  validateSearch: readListSearch('state'),
  component: lazyRouteComponent(() => import('./certificates/certificate-list-page.tsx'), 'AppCertificateListPage'),
});

export const demandRoutes = [
  requests,
  request,
  apps,
  newApp,
  app,
  credentials,
  certificates,
  users,
  newUser,
  user,
  organisations,
  organisation,
] as const;
