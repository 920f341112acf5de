import type { Migration } from '../migration.ts';
import { foundation } from './0001-foundation.ts';
import { portalCatalogue } from './0002-portal-catalogue.ts';
import { portalContent } from './0003-portal-content.ts';
import { counters } from './0004-counters.ts';
import { oauthTokens } from './0005-oauth-tokens.ts';
import { analytics } from './0006-analytics.ts';
import { deliveries } from './0007-deliveries.ts';
import { uptimeTables } from './0008-uptime.ts';
import { tenants } from './0009-tenants.ts';
import { apiOwners } from './0011-api-owners.ts';
import { sealedDefinitions } from './0012-sealed-definitions.ts';
import { assets } from './0013-assets.ts';
import { signInSchema } from './0015-sign-in.ts';
import { userGroups } from './0016-user-groups.ts';
import { singleSignOn } from './0017-single-sign-on.ts';
import { usageDimensions } from './0018-usage-dimensions.ts';
import { logTags } from './0019-log-tags.ts';
import { preferences } from './0020-preferences.ts';
import { searchNames } from './0021-search-names.ts';
import { notificationMarks } from './0022-notification-marks.ts';
import { nodes } from './0023-nodes.ts';
import { accountLinks } from './0024-account-links.ts';
import { idempotentResponses } from './0025-idempotent-responses.ts';
import { revisions } from './0026-revisions.ts';
import { apiVersions } from './0027-api-versions.ts';
import { revisionSizes } from './0028-revision-sizes.ts';
import { listFilters } from './0029-list-filters.ts';
import { mcpUsage } from './0030-mcp-usage.ts';
import { providerSessions } from './0031-provider-sessions.ts';
import { oauthClientSearch } from './0032-oauth-client-search.ts';
import { portalPeople } from './0033-portal-people.ts';
import { portalFiles } from './0034-portal-files.ts';
import { portalPublishing } from './0035-portal-publishing.ts';
import { portalThemes } from './0036-portal-themes.ts';
import { portalMailTables } from './0037-portal-mails.ts';
import { portalProviderTasks } from './0038-portal-provider-tasks.ts';
import { portalOrganisationRequests } from './0039-portal-organisation-requests.ts';
import { portalOffer } from './0040-portal-offer.ts';
import { portalInvitations } from './0041-portal-invitations.ts';
import { portalTerms } from './0042-portal-terms.ts';
import { portalMenus } from './0043-portal-menus.ts';
import { portalNotifications } from './0044-portal-notifications.ts';
import { portalProductWords } from './0045-portal-product-words.ts';
import { portalOauthClients } from './0046-portal-oauth-clients.ts';
import { usageTags } from './0047-usage-tags.ts';
import { portalChangelog } from './0048-portal-changelog.ts';
import { portalExpiryNotices } from './0049-portal-expiry-notices.ts';
import { portalCertificates } from './0050-portal-certificates.ts';
import { portalProductTerms } from './0051-portal-product-terms.ts';
import { portalAnnouncements } from './0052-portal-announcements.ts';
import { uptimeTags } from './0053-uptime-tags.ts';
import { portalSearch } from './0054-portal-search.ts';
import { portalChangelogProposals } from './0055-portal-changelog-proposals.ts';
import { uptimeChecks } from './0056-uptime-checks.ts';
import { portalOrganisationCertificates } from './0057-portal-organisation-certificates.ts';
import { portalPostDates } from './0058-portal-post-dates.ts';

/** In order: a migration's number is its position here, from 1. */
export const migrations: readonly Migration[] = [
  foundation,
  portalCatalogue,
  portalContent,
  counters,
  oauthTokens,
  analytics,
  deliveries,
  uptimeTables,
  tenants,
  apiOwners,
  sealedDefinitions,
  assets,
  signInSchema,
  userGroups,
  singleSignOn,
  usageDimensions,
  logTags,
  preferences,
  searchNames,
  notificationMarks,
  nodes,
  accountLinks,
  idempotentResponses,
  revisions,
  apiVersions,
  revisionSizes,
  listFilters,
  mcpUsage,
  providerSessions,
  oauthClientSearch,
  portalPeople,
  portalFiles,
  portalPublishing,
  portalThemes,
  portalMailTables,
  portalProviderTasks,
  portalOrganisationRequests,
  portalOffer,
  portalInvitations,
  portalTerms,
  portalMenus,
  portalNotifications,
  portalProductWords,
  portalOauthClients,
  usageTags,
  portalChangelog,
  portalExpiryNotices,
  portalCertificates,
  portalProductTerms,
  portalAnnouncements,
  uptimeTags,
  portalSearch,
  portalChangelogProposals,
  uptimeChecks,
  portalOrganisationCertificates,
  portalPostDates,
];
