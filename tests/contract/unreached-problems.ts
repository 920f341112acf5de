/**
 * Declared problems of operations that no test is known to reach, by the reason: a problem and the operations that
 * declare it. The number of pairs only falls.
 */
const exceptions: Readonly<Record<string, string>> = {
  'Needs name resolution, a long wait, many requests at once or a shutdown: tested at the outbound client.': `
    outbound.bad_request: getExample importDocument listExamples patchDocument
    outbound.closed: getExample importDocument listExamples patchDocument
    outbound.refused: importDocument patchDocument
    outbound.refused_address: getExample listExamples
    outbound.timed_out: callGateway explainCall getExample importDocument listExamples patchDocument
    outbound.too_busy: getExample importDocument listExamples patchDocument
    outbound.unknown_host: getExample importDocument listExamples patchDocument
  `,
  'Not reached by the suites that were recorded when the list was written.': `
    analytics.owned_counts_only: countClientActivity countClientEndpoints countKeyActivity countKeyEndpoints
      countUsage countUsageByApi countUsageOfApi listUptime sumKeyActivity
    analytics.percentile_rows_exceeded: countClientActivity countClientEndpoints countKeyActivity
      countKeyEndpoints countUsage countUsageByApi countUsageOfApi sumKeyActivity
    analytics.reads_exceeded: countClientActivity countClientEndpoints countKeyActivity countKeyEndpoints
      countUsage countUsageByApi countUsageOfApi streamUsage sumKeyActivity
    apis.api_not_found: clearApiJwksCache deleteGatewayApi deleteGatewayDocument exportGatewayDocument
      getGatewayApi getGatewayApiStatus getGatewayDocument listGatewayApiVersions listGatewayDocumentVersions
      patchGatewayDocument purgeApiCache updateGatewayApi updateGatewayDocument
    apis.api_not_owned: countUsage countUsageByApi countUsageOfApi
    apis.base_is_self: createGatewayApi createGatewayDocument importGatewayDocument
    apis.base_name_missing: dryRunDocument
    apis.base_not_found: dryRunDocument
    apis.base_of_other_form: dryRunDocument
    apis.document_missing: dryRunDocument
    apis.document_unavailable: importDocument patchDocument
    apis.domain_not_granted: activateApi
    apis.is_streams: patchDocument updateDocument
    apis.name_taken: activateApi
    apis.no_base: rebaseDocument
    apis.not_classic: updateApi
    apis.not_its_version: rebaseDocument
    apis.other_form: createGatewayApi createGatewayDocument importGatewayDocument
    apis.other_id: patchStreams updateApi updateDocument updateStreams
    apis.path_exists: activateApi
    apis.path_not_granted: activateApi
    apis.reference_not_owned: activateApi
    apis.reference_open: activateApi debugDefinition
    apis.route_taken: activateApi
    apis.too_many_to_migrate: migrateApis
    apis.version_exists: dryRunDocument
    apis.version_name_missing: dryRunDocument
    assets.asset_exists: createAsset updateAsset
    assets.kind_not_listed: listAssets
    assets.kind_unknown: createAsset updateAsset
    assets.template_not_found: dryRunDocument importDocument
    assets.template_not_permitted: createDocument dryRunDocument importDocument
    assets.too_many_assets: createAsset
    certificates.too_large: createGatewayCertificate
    configuration.run_in_progress: applyConfiguration planConfiguration
    convert.format_unknown: convertDocument
    convert.format_unsupported: convertDocument
    convert.text_invalid: convertDocument
    debug.chain_not_built: debugDefinition
    debug.too_many_runs: debugDefinition
    deliveries.not_dead: retryDelivery retryOperatorDelivery
    deliveries.not_found: getOperatorDelivery retryOperatorDelivery
    examples.address_not_permitted: getExample listExamples
    examples.file_unavailable: getExample listExamples
    examples.index_invalid: getExample listExamples
    gw-apis.api_id_missing: getApiHealth
    gw-apis.api_id_unknown: getApiHealth
    gw-apis.classic_only: updateGatewayApi
    gw-apis.extension_missing: createDocument createGatewayDocument dryRunDocument updateDocument
      updateGatewayDocument
    gw-apis.extension_present: dryRunDocument importDocument importGatewayDocument patchDocument
    gw-apis.is_classic: exportGatewayDocument getGatewayDocument patchDocument updateDocument
      updateDocumentCategories
    gw-apis.no_schema: getDocumentSchema getOasSchema getSchema getStreamsSchema listSchemas
    gw-apis.oas_for_classic: patchGatewayDocument updateGatewayDocument
    gw-apis.other_id: patchGatewayDocument updateGatewayApi updateGatewayDocument
    gw-apis.other_organisation: patchGatewayDocument updateGatewayApi updateGatewayDocument
    hooks.id_taken: updateHook
    hooks.too_many_tests: testHook
    keys.exists: addGatewayKey putGatewayKey
    notifications.account_required: markNotifications muteNotifications
    oauth.api_inactive: authorizeOauthClient
    oauth.api_without_tokens: authorizeOauthClient
    oauth.client_not_found: deleteOauthClient listOauthTokens
    operation.not_permitted: endOtherSessions getConfiguration getUser resetAccessKey runBulk
    operation.too_many_streams: streamLogs
    outbound.refused_redirect: getExample importDocument listExamples patchDocument
    outbound.too_large: callGateway explainCall
    outbound.unreachable: callGateway explainCall
    people.audit_log_not_found: getAnyAuditLog
    people.domain_taken: generatePortals
    people.email_exists: adminUpdateUser createUser updateUser
    people.email_owner_only: updateUser
    people.grant_not_held: createIdentityProfile createSignOnNonce createUser createUserGroup
      updateIdentityProfile updateUser updateUserGroup
    people.group_in_use: deleteUserGroup
    people.group_owns_hidden_apis: createIdentityProfile createSignOnNonce createUser updateIdentityProfile
      updateUser
    people.group_permission_invalid: createUserGroup updateUserGroup
    people.group_unknown: adminCreateUser adminUpdateUser
    people.last_administrator: deleteUser updateUser
    people.limit_reached: createIdentityProfile createUserGroup
    people.only_admin_grants: createIdentityProfile createSignOnNonce createUser createUserGroup
      updateIdentityProfile updateUser updateUserGroup
    people.organisation_first: deleteOrganisation
    people.organisation_in_use: deleteOrganisation
    people.organisation_not_found: generatePortals getCustomPermissions getGrants getOrganisation
      getOrganisationRules updateCustomPermissions updateOrganisationRules
    people.organisation_unknown: adminCreateUser adminUpdateUser createGatewayApi createGatewayDocument
      importGatewayDocument
    people.organisation_unrestricted: updateGrants
    people.own_key_only: resetAccessKey
    people.permission_level_invalid: adminCreateUser adminUpdateUser createUser updateUser
    people.permission_unknown: adminCreateUser adminUpdateUser createUser createUserGroup updateUser
      updateUserGroup
    people.rules_invalid: createOrganisation importOrganisation updateOrganisation updateOrganisationRules
    people.rules_unavailable: createOrganisation importOrganisation updateOrganisation updateOrganisationRules
    people.rules_without_decision: createOrganisation importOrganisation updateOrganisation
      updateOrganisationRules
    people.user_not_found: addPasskey adminCreateResetLink adminGetUser adminRemoveSecondFactor
      disallowResetPasswords markNotifications muteNotifications removePasskey updatePreferences
    people.user_outranks: createSignOnNonce createUserResetLink removeSecondFactor resetAccessKey resetPassword
      updateUser
    people.wrong_password: resetPassword
    policies.id_exists: createGatewayPolicy
    policies.name_exists: updateGatewayPolicy
    policies.several: updateGatewayPolicy
    portal.approval_in_progress: approveAccessRequest rejectAccessRequest
    portal.catalogue_exists: updateCatalogue
    portal.cid_taken: createPlan createPortalOrganisation createProvider
    portal.not_found: deleteCredential getAppAccessRequest listCredentials
    portal.provider_refused: deleteAccessRequest deleteApp deleteAppAccessRequest deleteCredential deletePlan
      deleteProduct deleteProvider provisionApp rotateCredential updatePlan updateProduct
    portal.provider_unavailable: approveAccessRequest createPlan createProduct deleteAccessRequest deleteApp
      deleteAppAccessRequest deleteCredential deletePlan deleteProduct deleteProvider provisionApp
      rotateCredential updatePlan updateProduct
    portal.rotated_already: rotateCredential
    portal.unknown: deleteAppAccessRequest getCredential rotateCredential
    proxy.path_foreign: callGateway explainCall
    proxy.path_unknown: callGateway explainCall
    proxy.too_many_calls: callGateway debugDefinition explainCall
    proxy.url_foreign: callGateway explainCall
    sign_in.account_inactive: adminCreateResetLink createUserResetLink signIn signInWithPasskey
    sign_in.challenge_invalid: addPasskey signInWithPasskey
    sign_in.code_required: createTotp disableTotp removePasskey renewRecoveryCodes startPasskey
    sign_in.code_wrong: confirmTotp
    sign_in.limited: confirmTotp createTotp disableTotp forgetPassword removePasskey renewRecoveryCodes signIn
      signInWithPasskey startPasskey
    sign_in.organisation_required: adminCreateResetLink signIn
    sign_in.passkey_exists: addPasskey
    sign_in.passkey_not_found: removePasskey
    sign_in.passkey_refused: signInWithPasskey
    sign_in.passkeys_unavailable: addPasskey signInWithPasskey startPasskey startPasskeySignIn
    sign_in.password_expired: signIn
    sign_in.reauthentication_failed: createTotp disableTotp renewRecoveryCodes startPasskey
    sign_in.refused: signIn
    sign_in.second_factor_missing: adminRemoveSecondFactor removeSecondFactor
    sign_in.second_factor_required: signIn
    sign_in.token_invalid: resetForgottenPassword
    sign_in.too_many_passkeys: addPasskey
    sign_in.totp_missing: confirmTotp disableTotp renewRecoveryCodes
    sign_on.account_foreign: createSignOnNonce
    sign_on.account_required: createSignOnNonce
    sign_on.group_unknown: createIdentityProfile updateIdentityProfile
    sign_on.organisation_foreign: createSignOnNonce
    sign_on.organisation_unknown: adminCreateSignOnNonce
    sign_on.profile_of_administrator: updateIdentityProfile
    sign_on.user_not_allowed: adminCreateSignOnNonce createSignOnNonce
    system.statistics_not_found: getSystemStatistics
    thread_rpc.no_threads: debugApi getExplanation
    webauthn.malformed: addPasskey signInWithPasskey
    webauthn.rejected: addPasskey signInWithPasskey
  `,
};

export const maxUnreachedProblems = 381;

/** Pairs as `reached-problems.ts` names them, by the reason. */
export const unreachedProblems: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(exceptions).map(([reason, text]) => [reason, parsePairs(text)]),
);

function parsePairs(text: string): string[] {
  let code = '';
  return text.split(/\s+/).flatMap(word => {
    if (word.endsWith(':')) code = word.slice(0, -1);
    return word === '' || word.endsWith(':') ? [] : [`${word} ${code}`];
  });
}
