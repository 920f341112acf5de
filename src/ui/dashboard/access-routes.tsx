import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../kit/list-search.ts';
import { readTabSearch } from '../kit/tab-search.ts';
import { idParam } from './reserved-ids.ts';
import { shellRoute } from './root-routes.tsx';

/** Routes of keys, policies, certificates and OAuth clients. */

const keys = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  staticData: { permission: 'keys' },
  validateSearch: readListSearch('state', 'kind', 'expires', 'tag', 'api_id', 'policy_id'),
  component: lazyRouteComponent(() => import('./keys/key-list-page.tsx'), 'KeyListPage'),
});

const newKey = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys/new',
  staticData: { permission: 'keys:write' },
  component: lazyRouteComponent(() => import('./keys/new-key-page.tsx'), 'NewKeyPage'),
});

const policies = createRoute({
  getParentRoute: () => shellRoute,
  path: '/policies',
  staticData: { permission: 'policies' },
  validateSearch: readListSearch('state', 'auth_type', 'api_id'),
  component: lazyRouteComponent(() => import('./policies/policy-list-page.tsx'), 'PolicyListPage'),
});

const key = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys/$keyHash',
  params: idParam('keyHash'),
  staticData: { permission: 'keys' },
  validateSearch: readTabSearch('effective', 'settings', 'raw'),
  component: lazyRouteComponent(() => import('./keys/key-page.tsx'), 'KeyPage'),
});

const readNewPolicy = readTabSearch('access', 'limits', 'details');

const newPolicy = createRoute({
  getParentRoute: () => shellRoute,
  path: '/policies/new',
  staticData: { permission: 'policies:write' },
  validateSearch: (search: Record<string, unknown>): { readonly tab?: string; readonly from?: string } => ({
    ...readNewPolicy(search),
    ...(typeof search.from === 'string' ? { from: search.from } : {}),
  }),
  component: lazyRouteComponent(() => import('./policies/policy-page.tsx'), 'NewPolicyPage'),
});

const policy = createRoute({
  getParentRoute: () => shellRoute,
  path: '/policies/$policyId',
  params: idParam('policyId'),
  staticData: { permission: 'policies' },
  validateSearch: readTabSearch('access', 'limits', 'details', 'keys', 'merge'),
  component: lazyRouteComponent(() => import('./policies/policy-page.tsx'), 'PolicyPage'),
});

const certificates = createRoute({
  getParentRoute: () => shellRoute,
  path: '/certificates',
  staticData: { permission: 'certs' },
  validateSearch: readListSearch('state', 'filter', 'is_ca'),
  component: lazyRouteComponent(() => import('./certificates/certificate-list-page.tsx'), 'CertificateListPage'),
});

const certificate = createRoute({
  getParentRoute: () => shellRoute,
  path: '/certificates/$certId',
  params: idParam('certId'),
  staticData: { permission: 'certs' },
  component: lazyRouteComponent(() => import('./certificates/certificate-page.tsx'), 'CertificatePage'),
});

const oauthClients = createRoute({
  getParentRoute: () => shellRoute,
  path: '/oauth-clients',
  staticData: { permission: 'oauth' },
  validateSearch: readListSearch('api_id'),
  component: lazyRouteComponent(() => import('./oauth-clients/client-list-page.tsx'), 'ClientListPage'),
});

const newOauthClient = createRoute({
  getParentRoute: () => shellRoute,
  path: '/oauth-clients/new',
  staticData: { permission: 'oauth:write' },
  component: lazyRouteComponent(() => import('./oauth-clients/new-client-page.tsx'), 'NewClientPage'),
});

const oauthClient = createRoute({
  getParentRoute: () => shellRoute,
  path: '/oauth-clients/$apiId/$clientId',
  staticData: { permission: 'oauth' },
  component: lazyRouteComponent(() => import('./oauth-clients/client-page.tsx'), 'ClientPage'),
});

export const accessRoutes = [
  keys,
  newKey,
  key,
  policies,
  newPolicy,
  policy,
  certificates,
  certificate,
  oauthClients,
  newOauthClient,
  oauthClient,
] as const;
