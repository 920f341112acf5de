import { createCertificateStore } from '#access/certificates/store.ts';
import { createDependentStore } from '#access/dependents/dependent-store.ts';
import { createRefuseDependents } from '#access/dependents/refuse-dependents.ts';
import type { KeyCounters } from '#access/keys/counters.ts';
import { createKeyStore } from '#access/keys/store.ts';
import { createOauthCodeStore } from '#access/oauth/code-store.ts';
import { createOauthClientStore, type OauthClientStore } from '#access/oauth/store.ts';
import { createOauthTokenStore } from '#access/oauth/token-store.ts';
import { createObjectLimit } from '#access/object-limit.ts';
import { createPolicyStore, type PolicyStore } from '#access/policies/store.ts';
import { defaultHistogramBounds } from '#analytics/latency-store.ts';
import { createLiveReader } from '#analytics/live-reader.ts';
import { createLogStore } from '#analytics/log-store.ts';
import { createUptimeStore } from '#analytics/uptime/store.ts';
import { createUsageStore } from '#analytics/usage-store.ts';
import { createApiLookup } from '#apis/api/api-lookup.ts';
import { createApiStore } from '#apis/api/store.ts';
import { createAssetStore } from '#apis/assets/store.ts';
import { createOwnership } from '#apis/owners/store.ts';
import { createGatewayCalls } from '#apis/proxy/gateway-calls.ts';
import { createNodeStore } from '#apis/system/node-store.ts';
import { createStatisticsStore } from '#apis/system/statistics-store.ts';
import { createAddressPolicies } from '#base/address-policies.ts';
import type { Clock } from '#base/clock.ts';
import { createOutboundClient, type OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { createMailer } from '#base/mailer.ts';
import type { Settings } from '#base/settings.ts';
import { createVault, type Vault } from '#base/vault.ts';
import { openEvents } from '#events/events.ts';
import { createHookStore } from '#events/hooks/store.ts';
import { createClientClaims } from '#gateway/http/client-claims.ts';
import { createEventStreams } from '#operations/event-streams.ts';
import { createAuditStore } from '#people/audit/store.ts';
import { createGroupStore } from '#people/groups/store.ts';
import { defaultOrgMetaName } from '#people/installation/default-organisation.ts';
import { createInstallationSecretStore } from '#people/installation/secrets.ts';
import { createGrantStore } from '#people/organisations/grant-store.ts';
import type { ObjectLimitName } from '#people/organisations/grants.ts';
import { createOrganisationStore } from '#people/organisations/store.ts';
import { createPreferenceStore } from '#people/preferences/store.ts';
import { createRuleEngine } from '#people/rules/rule-engine.ts';
import { createAccountMails } from '#people/sessions/account-mails.ts';
import { createFactorStore } from '#people/sessions/factor-store.ts';
import { createMailQueue } from '#people/sessions/mail-queue.ts';
import { createPasskeyChallenges } from '#people/sessions/passkey-challenges.ts';
import { createPasskeyStore } from '#people/sessions/passkey-store.ts';
import { readRelyingParty } from '#people/sessions/relying-party.ts';
import { createResetMails, type ResetMailServices } from '#people/sessions/reset-mails.ts';
import { createResetLimit } from '#people/sessions/reset-operations.ts';
import { createSignInLimit } from '#people/sessions/sign-in-limit.ts';
import { createSessionStore } from '#people/sessions/store.ts';
import { createSignInTokenStore } from '#people/sessions/token-store.ts';
import { createAccountLinkStore } from '#people/single-sign-on/account-link-store.ts';
import { createBeginProviderLogout } from '#people/single-sign-on/begin-logout.ts';
import { createFlowCookies } from '#people/single-sign-on/flow-cookie.ts';
import { createIdentityProfileStore } from '#people/single-sign-on/profiles/store.ts';
import { createProviderSlots } from '#people/single-sign-on/provider-slots.ts';
import { createActorResolver } from '#people/users/actor.ts';
import { createUserStore } from '#people/users/store.ts';
import { createTemporaryActors } from '#people/users/temporary-actor.ts';
import { createStoredSettings } from '#portal/configuration/stored-settings.ts';
import { openPortal } from '#portal/portal-stores.ts';
import { createPostStore } from '#portal/posts/store.ts';
import { createSsoProfileStore } from '#portal/sso-profiles/store.ts';
import { createPortalWebhookStore } from '#portal/webhooks/store.ts';
import type { CheckObjectLimit } from '#storage/collection.ts';
import { createMetaStore } from '#storage/meta.ts';
import type { Records } from '#storage/records.ts';
import { createRevisionLog, type RevisionLog } from '#storage/revision-log.ts';
import { openKeyValues } from '#storage/shared/open-key-values.ts';
import { createMarkStore } from '#workspace/notifications/mark-store.ts';
import { createTestMails } from '#workspace/organisation/test-mails.ts';
import { createSearchStore } from '#workspace/search/store.ts';

const dayMs = 86_400_000;

/** Every store and service that an operation may request, by name. */
export function openStores(
  records: Records,
  dataKey: Buffer,
  settings: Settings,
  environment: { readonly log: Log; readonly clock: Clock; readonly node: string },
  counting: KeyCounters,
) {
  const { clock, log } = environment;
  const [meta, vault] = [createMetaStore(records), createVault(dataKey)];
  const organisations = createOrganisationStore(records);
  const grants = createGrantStore(records, meta, settings);
  const revisions = openRevisions(records, clock, settings);
  const users = createUserStore(records, vault, revisions);
  const apis = createApiStore(records, vault, { revisions, maxRoutesCompared: settings['apis.max_routes_compared'] });
  const assets = createAssetStore(records, vault, revisions);
  const ownership = createOwnership(records, settings);
  const apiLookup = createApiLookup(apis);
  const checkObjectLimit = createLimitCheck(grants);
  const access = {
    policies: createPolicyStore(records, apiLookup.findApis, checkObjectLimit('max_policies'), revisions),
    keys: createKeyStore(records, vault, settings, checkObjectLimit('max_keys')),
    ...openAccessStores(records, vault, settings, revisions),
  };
  const hooks = createHookStore(records, vault, checkObjectLimit('max_hooks'), revisions);
  const storedSettings = createStoredSettings({ settings, records, meta, log });
  const calls = openOutbound(settings, async orgId => (await grants.find(orgId)).networks);
  const services = {
    records,
    keyValues: openKeyValues({ ...readRedisOptions(settings), ...environment }),
    meta,
    vault,
    clock,
    log,
    settings: storedSettings.settings,
    storedSettings,
    revisions,
    organisations,
    grants,
    users,
    hooks,
    ...openEvents({ records, vault, hooks, settings, ...environment }),
    apis,
    assets,
    ownership,
    ...apiLookup,
    ...access,
    counting,
    ...createApiHooks(access),
    ...openReportingStores(records, { settings, ...environment }),
    ...openPortalStores(records, vault, clock),
    ...openSignIn(records, vault, revisions, { users, organisations, settings, ...calls, ...environment }),
    audit: createAuditStore(records, clock),
    secrets: createInstallationSecretStore(meta, vault, settings),
    defaultOrgId: async () => (await meta.get(defaultOrgMetaName)) ?? '',
    describeContents: (orgId: string) => describeContents({ ...access, apis, assets, hooks }, orgId),
    ...calls,
  };
  const shared = { ...services, ...environment };
  return { ...services, ...openPortal(shared), ...openChecks(shared) };
}

const createLimitCheck =
  (grants: ReturnType<typeof createGrantStore>) =>
  (name: ObjectLimitName): CheckObjectLimit =>
  (orgId, count) =>
    grants.checkObjectLimit(orgId, name, count);

const readRedisOptions = (settings: Settings) => ({
  url: settings['redis.url'],
  prefix: settings['redis.prefix'],
  timeoutMs: settings['redis.timeout_ms'],
});

/** Changes of access that follow from changes of APIs. */
const createApiHooks = ({ policies, oauthClients }: { policies: PolicyStore; oauthClients: OauthClientStore }) => ({
  onApiDeleted: async (orgId: string, apiId: string) => {
    await policies.removeApi(orgId, apiId);
    await oauthClients.removeOfApi(apiId);
  },
  onApiChanged: policies.refreshAuthTypes,
});

/** Services that check operations of others. */
function openChecks(
  services: Parameters<typeof createRuleEngine>[0] &
    Parameters<typeof createObjectLimit>[0] &
    Omit<Parameters<typeof createRefuseDependents>[0], 'dependents'> & {
      records: Records;
    },
) {
  const dependents = createDependentStore(services.records);
  return {
    dependents,
    refuseDependents: createRefuseDependents({ ...services, dependents }),
    limitVisibleObjects: createObjectLimit(services),
    rules: createRuleEngine(services),
  };
}

type SignInParts = Omit<ResetMailServices, 'signInTokens' | 'mailer' | 'mailQueue'> & {
  readonly log: Log;
  readonly outbound: OutboundClient;
};

function openSignIn(records: Records, vault: Vault, revisions: RevisionLog, parts: SignInParts) {
  const { settings, clock, log, outbound } = parts;
  const groups = createGroupStore(records, undefined, revisions);
  const signInTokens = createSignInTokenStore(records, vault);
  const identityProfiles = createIdentityProfileStore(records, vault, undefined, revisions, clock);
  const mailer = createMailer({
    url: settings['mail.smtp_url'],
    from: settings['mail.from'],
    requireTls: settings['mail.require_tls'],
    timeoutMs: settings['mail.timeout_ms'],
  });
  const mailQueue = createMailQueue(log);
  const providerSlots = createProviderSlots();
  const sessions = createSessionStore(records, vault, settings);
  return {
    groups,
    preferences: createPreferenceStore(records),
    resolveActor: createActorResolver(groups),
    temporaryActors: createTemporaryActors(groups, settings),
    identityProfiles,
    beginProviderLogout: createBeginProviderLogout({
      ...{ signInTokens, clock, settings, identityProfiles, sessions, outbound, providerSlots, log },
    }),
    flowCookies: createFlowCookies(vault, clock),
    accountLinks: createAccountLinkStore(records, vault),
    providerSlots,
    sessions,
    signInLimit: createSignInLimit(settings, clock),
    portalSignInLimit: createSignInLimit(settings, clock),
    mailer,
    portalMailQueue: createMailQueue(log),
    portalMailLimit: createResetLimit(settings, clock),
    signInTokens,
    factors: createFactorStore(records, vault),
    passkeys: createPasskeyStore(records),
    passkeyChallenges: createPasskeyChallenges(vault, signInTokens, clock),
    relyingParty: readRelyingParty(settings),
    resetMails: createResetMails({ ...parts, signInTokens, mailer, mailQueue }),
    accountMails: createAccountMails({ ...parts, mailer, mailQueue }),
    testMails: createTestMails(mailer, clock),
    resetLimit: createResetLimit(settings, clock),
  };
}

function openOutbound(settings: Settings, networksOf: (orgId: string) => Promise<readonly string[]>) {
  /** Filled as the management listeners open. */
  const managementPorts: number[] = [];
  const addressPolicies = createAddressPolicies({
    refused: settings['outbound.refused_addresses'],
    managementPorts: () => managementPorts,
  });
  return {
    managementPorts,
    addressPolicies,
    outbound: createOutboundClient({ addresses: addressPolicies, networksOf }),
    gatewayCalls: createGatewayCalls(),
    isClientClaim: createClientClaims(settings['gateway.client_claim_headers']),
  };
}

const openRevisions = (records: Records, clock: Clock, settings: Settings) =>
  createRevisionLog(records, clock, {
    maxRevisionsPerObject: settings['history.max_revisions'],
    retentionMs: settings['history.retention_days'] * dayMs,
    maxBytesPerOrganisation: settings['history.max_bytes_per_organisation'],
  });

const openAccessStores = (records: Records, vault: Vault, settings: Settings, revisions: RevisionLog) => ({
  certificates: createCertificateStore(records, vault, revisions),
  oauthClients: createOauthClientStore(records, vault),
  oauthTokens: createOauthTokenStore(records, vault, settings),
  oauthCodes: createOauthCodeStore(records, vault),
});

function openReportingStores(records: Records, streams: Parameters<typeof createEventStreams>[0]) {
  const { settings } = streams;
  const bounds = { ...defaultHistogramBounds, maxRows: settings['analytics.max_percentile_rows'] };
  const usage = createUsageStore(records, bounds, settings['analytics.max_waiting_reads']);
  return {
    search: createSearchStore(records),
    notificationMarks: createMarkStore(records),
    eventStreams: createEventStreams(streams),
    usage,
    readLiveCounts: createLiveReader({ usage, clock: streams.clock }),
    logs: createLogStore(records),
    uptime: createUptimeStore(records),
    nodes: createNodeStore(records),
    statistics: createStatisticsStore(records),
  };
}

const openPortalStores = (records: Records, vault: Vault, clock: Clock) => ({
  posts: createPostStore(records, clock),
  portalWebhooks: createPortalWebhookStore(records, vault),
  ssoProfiles: createSsoProfileStore(records, vault, clock),
});

type Counted = Readonly<
  Record<'apis' | 'policies' | 'keys' | 'certificates' | 'assets' | 'hooks', { count(orgId: string): Promise<number> }>
>;

/** The first kind of object that an organisation still has. */
async function describeContents(stores: Counted, orgId: string): Promise<string | undefined> {
  if ((await stores.apis.count(orgId)) > 0) return 'APIs';
  if ((await stores.policies.count(orgId)) > 0) return 'policies';
  if ((await stores.keys.count(orgId)) > 0) return 'keys';
  if ((await stores.certificates.count(orgId)) > 0) return 'certificates';
  if ((await stores.assets.count(orgId)) > 0) return 'templates';
  return (await stores.hooks.count(orgId)) > 0 ? 'webhooks' : undefined;
}
