import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../kit/list-search.ts';
import { adminShellRoute } from './admin-root.tsx';

/** Routes of how people come to the portal: invitations, invite codes, requests for organisations, terms of use. */

const invitations = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/invitations',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./invitations/invitation-list-page.tsx'), 'InvitationListPage'),
});

const newInvitation = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/invitations/new',
  component: lazyRouteComponent(() => import('./invitations/new-invitation-page.tsx'), 'NewInvitationPage'),
});

const codes = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/invite_codes',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./invitations/code-list-page.tsx'), 'InviteCodeListPage'),
});

const newCode = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/invite_codes/new',
  component: lazyRouteComponent(() => import('./invitations/code-page.tsx'), 'NewInviteCodePage'),
});

const code = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/invite_codes/$codeId',
  component: lazyRouteComponent(() => import('./invitations/code-page.tsx'), 'InviteCodePage'),
});

const requests = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/organisation_requests',
  validateSearch: readListSearch('state'),
  component: lazyRouteComponent(
    () => import('./organisation-requests/organisation-request-list-page.tsx'),
    'OrganisationRequestListPage',
  ),
});

const request = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/organisation_requests/$requestId',
  component: lazyRouteComponent(
    () => import('./organisation-requests/organisation-request-page.tsx'),
    'OrganisationRequestPage',
  ),
});

const termsList = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/terms',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./terms/terms-list-page.tsx'), 'TermsListPage'),
});

const newTerms = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/terms/new',
  component: lazyRouteComponent(() => import('./terms/terms-page.tsx'), 'NewTermsPage'),
});

const terms = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/terms/$termsId',
  component: lazyRouteComponent(() => import('./terms/terms-page.tsx'), 'TermsPage'),
});

export const joiningRoutes = [
  invitations,
  newInvitation,
  codes,
  newCode,
  code,
  requests,
  request,
  termsList,
  newTerms,
  terms,
] as const;
