import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { readListSearch } from '../kit/list-search.ts';
import { adminShellRoute } from './admin-root.tsx';

/** Routes of connections to other systems, and of settings. */

const overview = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin',
  component: lazyRouteComponent(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
});

const providers = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/providers',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./providers/provider-list-page.tsx'), 'ProviderListPage'),
});

const newProvider = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/providers/new',
  component: lazyRouteComponent(() => import('./providers/provider-page.tsx'), 'NewProviderPage'),
});

const provider = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/providers/$providerId',
  component: lazyRouteComponent(() => import('./providers/provider-page.tsx'), 'ProviderPage'),
});

const oauthProviders = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/oauth2-0-providers',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./oauth/oauth-provider-list-page.tsx'), 'OauthProviderListPage'),
});

const newOauthProvider = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/oauth2-0-providers/new',
  component: lazyRouteComponent(() => import('./oauth/oauth-provider-page.tsx'), 'NewOauthProviderPage'),
});

const oauthProvider = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/oauth2-0-providers/$providerId',
  component: lazyRouteComponent(() => import('./oauth/oauth-provider-page.tsx'), 'OauthProviderPage'),
});

const webhooks = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/webhooks',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./webhooks/webhook-list-page.tsx'), 'PortalWebhookListPage'),
});

const newWebhook = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/webhooks/new',
  component: lazyRouteComponent(() => import('./webhooks/webhook-page.tsx'), 'NewPortalWebhookPage'),
});

const webhook = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/webhooks/$webhookId',
  component: lazyRouteComponent(() => import('./webhooks/webhook-page.tsx'), 'PortalWebhookPage'),
});

const signOnProfiles = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/sso_profiles',
  validateSearch: readListSearch(),
  component: lazyRouteComponent(() => import('./sign-on/sign-on-list-page.tsx'), 'PortalSignOnListPage'),
});

const newSignOnProfile = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/sso_profiles/new',
  component: lazyRouteComponent(() => import('./sign-on/sign-on-page.tsx'), 'NewSignOnPage'),
});

const signOnProfile = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/sso_profiles/$profileId',
  component: lazyRouteComponent(() => import('./sign-on/sign-on-page.tsx'), 'SignOnPage'),
});

const attributes = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/custom_attributes',
  component: lazyRouteComponent(() => import('./attributes/attribute-list-page.tsx'), 'AttributeListPage'),
});

const newAttribute = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/custom_attributes/new',
  component: lazyRouteComponent(() => import('./attributes/attribute-page.tsx'), 'NewAttributePage'),
});

const attribute = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/custom_attributes/$attributeId',
  component: lazyRouteComponent(() => import('./attributes/attribute-page.tsx'), 'AttributePage'),
});

const general = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/general',
  component: lazyRouteComponent(() => import('./settings/general-page.tsx'), 'GeneralPage'),
});

const profile = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/admin_profile',
  component: lazyRouteComponent(() => import('./profile/admin-profile-page.tsx'), 'AdminProfilePage'),
});

const configuration = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/configuration',
  component: lazyRouteComponent(() => import('./settings/configuration-page.tsx'), 'ConfigurationPage'),
});

const audit = createRoute({
  getParentRoute: () => adminShellRoute,
  path: '/admin/audit',
  validateSearch: readListSearch('user', 'action', 'object', 'from_date', 'to_date'),
  component: lazyRouteComponent(() => import('./audit/portal-audit-page.tsx'), 'PortalAuditPage'),
});

export const connectionRoutes = [
  overview,
  providers,
  newProvider,
  provider,
  oauthProviders,
  newOauthProvider,
  oauthProvider,
  webhooks,
  newWebhook,
  webhook,
  signOnProfiles,
  newSignOnProfile,
  signOnProfile,
  attributes,
  newAttribute,
  attribute,
  general,
  profile,
  configuration,
  audit,
] as const;
