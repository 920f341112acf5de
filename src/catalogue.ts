import { certificateDependencyOperations } from '#access/certificates/dependency-operations.ts';
import { notificationOperations } from '#access/certificates/notification-operations.ts';
import { certificateOperations } from '#access/certificates/operations.ts';
import { certificateRevisionOperations } from '#access/certificates/revision-operations.ts';
import { hookUseOperations } from '#access/dependents/hook-use-operations.ts';
import { dependentOperations } from '#access/dependents/operations.ts';
import { gatewayAccessOperations } from '#access/gateway-operations.ts';
import { organisationKeyOperations } from '#access/keys/admin-operations.ts';
import { apiKeyOperations } from '#access/keys/api-operations.ts';
import { basicKeyOperations } from '#access/keys/basic-operations.ts';
import { keyOperations } from '#access/keys/operations.ts';
import { adminOauthOperations } from '#access/oauth/admin-operations.ts';
import { oauthClientOperations } from '#access/oauth/client-operations.ts';
import { oauthOperations } from '#access/oauth/operations.ts';
import { oauthRevokeOperations } from '#access/oauth/revoke-operations.ts';
import { adminPolicyOperations } from '#access/policies/admin-operations.ts';
import { policyOperations } from '#access/policies/operations.ts';
import { policyRevisionOperations } from '#access/policies/revision-operations.ts';
import { activityOperations } from '#analytics/activity-operations.ts';
import { logOperations } from '#analytics/log-operations.ts';
import { mcpAnalyticsOperations } from '#analytics/mcp-operations.ts';
import { streamOperations } from '#analytics/stream-operations.ts';
import { uptimeOperations } from '#analytics/uptime/operations.ts';
import { usageOperations } from '#analytics/usage-operations.ts';
import { apiActivationOperations } from '#apis/activation/operations.ts';
import { assetOperations } from '#apis/assets/operations.ts';
import { assetRevisionOperations } from '#apis/assets/revision-operations.ts';
import { apiCheckOperations } from '#apis/check/operations.ts';
import { classicOperations } from '#apis/classic/operations.ts';
import { documentImportOperations } from '#apis/convert/import-operations.ts';
import { apiConvertOperations } from '#apis/convert/operations.ts';
import { dataGraphOperations } from '#apis/data-graphs/operations.ts';
import { exampleOperations } from '#apis/examples/operations.ts';
import { graphqlSchemaOperations } from '#apis/graphql-schema/operations.ts';
import { gwApiOperations } from '#apis/gw/operations.ts';
import { apiImportOperations } from '#apis/import/operations.ts';
import { apiListOperations } from '#apis/lists/operations.ts';
import { gwMcpOperations } from '#apis/mcp/gw-operations.ts';
import { mcpOperations } from '#apis/mcp/operations.ts';
import { apiToolOperations } from '#apis/mcp/tool-operations.ts';
import { apiMigrationOperations } from '#apis/migration/operations.ts';
import { oasDetailOperations } from '#apis/oas/detail-operations.ts';
import { oasFileOperations } from '#apis/oas/file-operations.ts';
import { oasOperations } from '#apis/oas/operations.ts';
import { apiOwnerOperations } from '#apis/owners/operations.ts';
import { proxyOperations } from '#apis/proxy/operations.ts';
import { apiRebaseOperations } from '#apis/rebase/operations.ts';
import { apiRevisionOperations } from '#apis/revisions/operations.ts';
import { schemaOperations } from '#apis/schemas/operations.ts';
import { streamsOperations } from '#apis/streams/operations.ts';
import { apiSystemOperations } from '#apis/system/operations.ts';
import { configurationOperations } from '#configuration/operations.ts';
import { deliveryHealthOperations } from '#events/deliveries/health-operations.ts';
import { deliveryOperations } from '#events/deliveries/operations.ts';
import { hookOperations } from '#events/hooks/operations.ts';
import { hookProbeOperations } from '#events/hooks/probe-operations.ts';
import { hookRevisionOperations } from '#events/hooks/revision-operations.ts';
import { hookSecretOperations } from '#events/hooks/secret-operations.ts';
import { ownDebugOperations } from '#gateway/inspect/debug/dashboard-operations.ts';
import { debugOperations } from '#gateway/inspect/debug/operations.ts';
import { explainedCallOperations } from '#gateway/inspect/explain/call-operations.ts';
import { explainOperations } from '#gateway/inspect/explain/operations.ts';
import { pluginTestOperations } from '#gateway/inspect/plugin-test/operations.ts';
import { refusalOperations } from '#gateway/inspect/refusals/operations.ts';
import { auditOperations } from '#people/audit/operations.ts';
import { groupOperations } from '#people/groups/operations.ts';
import { groupRevisionOperations } from '#people/groups/revision-operations.ts';
import { grantOperations } from '#people/organisations/grant-operations.ts';
import { organisationOperations } from '#people/organisations/operations.ts';
import { portalDomainOperations } from '#people/organisations/portal-operations.ts';
import { customPermissionOperations } from '#people/permissions/operations.ts';
import { preferenceOperations } from '#people/preferences/operations.ts';
import { ruleOperations } from '#people/rules/operations.ts';
import { factorListOperations } from '#people/sessions/factor-list-operations.ts';
import { factorOperations } from '#people/sessions/factor-operations.ts';
import { sessionOperations } from '#people/sessions/operations.ts';
import { passkeyOperations } from '#people/sessions/passkey-operations.ts';
import { passkeySignInOperations } from '#people/sessions/passkey-sign-in.ts';
import { resetOperations } from '#people/sessions/reset-operations.ts';
import { accountLinkOperations } from '#people/single-sign-on/account-link-operations.ts';
import { nonceOperations } from '#people/single-sign-on/nonce-operations.ts';
import { identityProfileOperations } from '#people/single-sign-on/profiles/operations.ts';
import { providerCheckOperations } from '#people/single-sign-on/profiles/provider-check-operations.ts';
import { profileRevisionOperations } from '#people/single-sign-on/profiles/revision-operations.ts';
import { signOnSessionOperations } from '#people/single-sign-on/session-operations.ts';
import { signInOptionOperations } from '#people/single-sign-on/sign-in-options-operations.ts';
import { adminUserOperations } from '#people/users/admin-operations.ts';
import { userOperations } from '#people/users/operations.ts';
import { userRevisionOperations } from '#people/users/revision-operations.ts';
import { portalOperations } from '#portal/portal-operations.ts';
import { postLabelOperations } from '#portal/posts/label-operations.ts';
import { postOperations } from '#portal/posts/operations.ts';
import { ssoProfileOperations } from '#portal/sso-profiles/operations.ts';
import { webhookDeliveryOperations } from '#portal/webhooks/delivery-operations.ts';
import { webhookHeaderOperations } from '#portal/webhooks/header-operations.ts';
import { webhookOperations } from '#portal/webhooks/operations.ts';
import { bulkOperations } from '#workspace/bulk/operations.ts';
import { userNotificationOperations } from '#workspace/notifications/operations.ts';
import { organisationSettingsOperations } from '#workspace/organisation/operations.ts';
import { searchOperations } from '#workspace/search/operations.ts';

/** All management operations of every surface; an operation not listed here has no route. */
export const catalogue = [
  ...organisationOperations,
  ...portalDomainOperations,
  ...grantOperations,
  ...adminUserOperations,
  ...userOperations,
  ...userRevisionOperations,
  ...sessionOperations,
  ...signInOptionOperations,
  ...resetOperations,
  ...nonceOperations,
  ...factorOperations,
  ...factorListOperations,
  ...passkeyOperations,
  ...passkeySignInOperations,
  ...identityProfileOperations,
  ...profileRevisionOperations,
  ...providerCheckOperations,
  ...signOnSessionOperations,
  ...accountLinkOperations,
  ...groupOperations,
  ...groupRevisionOperations,
  ...customPermissionOperations,
  ...ruleOperations,
  ...preferenceOperations,
  ...auditOperations,
  ...hookOperations,
  ...hookRevisionOperations,
  ...hookSecretOperations,
  ...hookProbeOperations,
  ...deliveryOperations,
  ...deliveryHealthOperations,
  ...classicOperations,
  ...apiCheckOperations,
  ...apiListOperations,
  ...apiOwnerOperations,
  ...apiActivationOperations,
  ...oasOperations,
  ...oasFileOperations,
  ...oasDetailOperations,
  ...apiRebaseOperations,
  ...apiMigrationOperations,
  ...apiConvertOperations,
  ...documentImportOperations,
  ...dataGraphOperations,
  ...graphqlSchemaOperations,
  ...apiRevisionOperations,
  ...assetOperations,
  ...assetRevisionOperations,
  ...schemaOperations,
  ...apiSystemOperations,
  ...proxyOperations,
  ...exampleOperations,
  ...streamsOperations,
  ...mcpOperations,
  ...apiToolOperations,
  ...gwMcpOperations,
  ...apiImportOperations,
  ...gwApiOperations,
  ...certificateOperations,
  ...certificateDependencyOperations,
  ...dependentOperations,
  ...hookUseOperations,
  ...certificateRevisionOperations,
  ...notificationOperations,
  ...policyOperations,
  ...policyRevisionOperations,
  ...adminPolicyOperations,
  ...keyOperations,
  ...apiKeyOperations,
  ...basicKeyOperations,
  ...organisationKeyOperations,
  ...oauthOperations,
  ...oauthClientOperations,
  ...oauthRevokeOperations,
  ...adminOauthOperations,
  ...gatewayAccessOperations,
  ...configurationOperations,
  ...debugOperations,
  ...pluginTestOperations,
  ...ownDebugOperations,
  ...explainOperations,
  ...refusalOperations,
  ...explainedCallOperations,
  ...usageOperations,
  ...activityOperations,
  ...mcpAnalyticsOperations,
  ...logOperations,
  ...streamOperations,
  ...uptimeOperations,
  ...bulkOperations,
  ...searchOperations,
  ...userNotificationOperations,
  ...organisationSettingsOperations,
  ...portalOperations,
  ...postOperations,
  ...postLabelOperations,
  ...webhookOperations,
  ...webhookHeaderOperations,
  ...webhookDeliveryOperations,
  ...ssoProfileOperations,
];
