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
    analytics.percentile_rows_exceeded: countClientActivity countClientEndpoints countKeyActivity
      countKeyEndpoints countUsage countUsageByApi countUsageOfApi sumKeyActivity
    analytics.reads_exceeded: countClientActivity countClientEndpoints countKeyActivity countKeyEndpoints
      countUsage countUsageByApi countUsageOfApi streamUsage sumKeyActivity
    apis.api_not_owned: countUsageByApi
    apis.base_is_self: createGatewayDocument importGatewayDocument
    apis.document_unavailable: patchDocument
    apis.domain_not_granted: activateApi
    apis.name_taken: activateApi
    apis.no_base: rebaseDocument
    apis.not_its_version: rebaseDocument
    apis.other_form: importGatewayDocument
    apis.other_id: patchStreams updateStreams
    apis.path_exists: activateApi
    apis.path_not_granted: activateApi
    apis.reference_not_owned: activateApi
    apis.reference_open: activateApi debugDefinition
    apis.route_taken: activateApi
    apis.too_many_to_migrate: migrateApis
    assets.too_many_assets: createAsset
    certificates.too_large: createGatewayCertificate
    configuration.run_in_progress: applyConfiguration planConfiguration
    configuration.run_timed_out: applyConfiguration planConfiguration
    debug.chain_not_built: debugDefinition
    debug.too_many_runs: debugDefinition
    deliveries.not_dead: retryDelivery
    examples.index_invalid: getExample
    gw-apis.no_schema: getOasSchema getSchema getStreamsSchema listSchemas
    gw-apis.other_organisation: patchGatewayDocument
    hooks.id_taken: updateHook
    hooks.too_many_tests: testHook
    keys.exists: addGatewayKey putGatewayKey
    notifications.account_required: markNotifications muteNotifications
    oauth.api_inactive: authorizeOauthClient
    oauth.api_without_tokens: authorizeOauthClient
    oauth.client_not_found: deleteOauthClient listOauthTokens
    operation.not_permitted: endOtherSessions getConfiguration
    operation.too_many_streams: streamLogs
    outbound.too_large: callGateway explainCall
    outbound.unreachable: callGateway explainCall
    people.email_exists: adminUpdateUser createUser updateUser
    people.email_owner_only: updateUser
    people.grant_not_held: createIdentityProfile createSignOnNonce updateIdentityProfile
    people.group_owns_hidden_apis: createIdentityProfile createSignOnNonce createUser updateIdentityProfile
    people.group_permission_invalid: updateUserGroup
    people.group_unknown: adminUpdateUser
    people.limit_reached: createIdentityProfile createUserGroup
    people.only_admin_grants: createIdentityProfile createSignOnNonce createUserGroup updateIdentityProfile
      updateUserGroup
    people.organisation_not_found: getCustomPermissions getOrganisationRules updateCustomPermissions
      updateOrganisationRules
    people.organisation_unknown: adminCreateUser adminUpdateUser
    people.own_key_only: resetAccessKey
    people.permission_level_invalid: adminCreateUser adminUpdateUser createUser updateUser
    people.permission_unknown: adminCreateUser adminUpdateUser createUser updateUser updateUserGroup
    people.rules_invalid: createOrganisation updateOrganisation updateOrganisationRules
    people.rules_unavailable: createOrganisation importOrganisation updateOrganisation updateOrganisationRules
    people.rules_without_decision: createOrganisation updateOrganisation updateOrganisationRules
    people.user_not_found: addPasskey adminCreateResetLink markNotifications muteNotifications removePasskey
      updatePreferences
    people.user_outranks: createSignOnNonce createUserResetLink removeSecondFactor resetAccessKey resetPassword
      updateUser
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
    proxy.url_foreign: explainCall
    sign_in.account_inactive: adminCreateResetLink createUserResetLink signIn signInWithPasskey
    sign_in.challenge_invalid: addPasskey signInWithPasskey
    sign_in.code_wrong: confirmTotp
    sign_in.limited: confirmTotp createTotp disableTotp forgetPassword removePasskey renewRecoveryCodes
      signInWithPasskey startPasskey
    sign_in.organisation_required: adminCreateResetLink signIn
    sign_in.passkey_exists: addPasskey
    sign_in.passkey_not_found: removePasskey
    sign_in.passkey_refused: signInWithPasskey
    sign_in.passkeys_unavailable: addPasskey signInWithPasskey startPasskey startPasskeySignIn
    sign_in.reauthentication_failed: createTotp disableTotp renewRecoveryCodes startPasskey
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

export const maxUnreachedProblems = 252;

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
