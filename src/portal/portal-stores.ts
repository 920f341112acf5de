import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { Mailer } from '#base/mailer.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { createDeliveryStore } from '#events/deliveries/store.ts';
import { createFactorStore } from '#people/sessions/factor-store.ts';
import { createSessionStore } from '#people/sessions/store.ts';
import { createAccountLinkStore } from '#people/single-sign-on/account-link-store.ts';
import type { Records } from '#storage/records.ts';
import { createAccessRequestStore } from './access-requests/store.ts';
import { createAppStore } from './apps/store.ts';
import { createAttributeStore } from './attributes/store.ts';
import { createCatalogueStore } from './catalogues/store.ts';
import {
  createOrganisationCertificateStore,
  createPortalCertificateStore,
  createProviderCertificateStore,
} from './certificates/store.ts';
import { createProposalStore } from './changelog/proposal-store.ts';
import { createChangelogStore } from './changelog/store.ts';
import { type ControlPlaneOf, selectControlPlane } from './control-plane.ts';
import { createLocalControlPlane, type LocalPlaneServices } from './control-plane-local.ts';
import { createRemoteControlPlane } from './control-plane-remote.ts';
import { createCredentialStore } from './credentials/store.ts';
import { createCustomCredentialStore } from './custom-credentials/store.ts';
import { createDocumentStores } from './document-stores.ts';
import { createExpiryNoticeStore } from './expiry-notices/store.ts';
import { createInvitationStore } from './invitations/store.ts';
import { createInviteCodeStore } from './invite-codes/store.ts';
import { createJoinTableStore } from './join-table-store.ts';
import { createPortalMails } from './mails/portal-mails.ts';
import { createMailStore } from './mails/store.ts';
import { createMenuStore } from './menus/store.ts';
import { createNotificationStore } from './notifications/store.ts';
import { createIdentityProviders, type IdentityProviderOf } from './oauth-clients/identity-provider.ts';
import { createRegisteredClientStore } from './oauth-clients/store.ts';
import { createClientTypeStore, createOauthProviderStore } from './oauth-providers/store.ts';
import { createOrganisationRequestStore } from './organisation-requests/store.ts';
import { createPortalOrganisationStore, createTeamStore } from './organisations/store.ts';
import { createPageStore } from './pages/store.ts';
import { createPlanStore } from './plans/store.ts';
import { createLabelStore } from './posts/label-store.ts';
import { createProductStore } from './products/store.ts';
import { createProviderTaskStore } from './provider-tasks/store.ts';
import { createProviderStore } from './providers/store.ts';
import { createTermsStore } from './terms/store.ts';
import { createThemeReader } from './themes/active-theme.ts';
import { createThemeStore } from './themes/store.ts';
import { createPortalUserStore } from './users/store.ts';
import { createPortalNotifier } from './webhooks/notify.ts';
import { createPlanReporter, createProductReporter } from './webhooks/offer-events.ts';
import { createPortalWebhookStore } from './webhooks/store.ts';

export type PortalStores = ReturnType<typeof createPortalStores>;

interface StoreServices {
  readonly records: Records;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly mailer: Mailer;
  readonly log: Log;
  /** Identifies this process among those on the database, also after a restart. */
  readonly node: string;
}

/** Stores of publishing and access. */
export function createPortalStores({ records, vault, clock, settings, mailer, log, node }: StoreServices) {
  const webhooks = createPortalWebhookStore(records, vault);
  const deliveries = createDeliveryStore(records);
  const notify = createPortalNotifier({ webhooks, deliveries, vault, clock, settings });
  const teams = createTeamStore(records);
  const documents = createDocumentStores(records);
  const themes = createThemeStore(records, documents.files);
  const users = createPortalUserStore(records);
  const mails = createMailStore(records, vault);
  const notifications = createNotificationStore(records, clock);
  const registeredClients = createRegisteredClientStore(records, vault);
  const readTheme = createThemeReader({ portal: { themes }, log });
  return {
    providers: createProviderStore(records, vault),
    providerTasks: createProviderTaskStore(records, vault, node),
    providerCertificates: createProviderCertificateStore(records),
    certificates: createPortalCertificateStore(records),
    organisationCertificates: createOrganisationCertificateStore(records),
    ...documents,
    themes,
    tags: createLabelStore(records, 'portal_tags'),
    productTags: createJoinTableStore(records, 'portal_product_tags', 'tag_id'),
    oauthProviders: createOauthProviderStore(records, vault),
    clientTypes: createClientTypeStore(records),
    registeredClients,
    products: createProductStore(records, createProductReporter(notify)),
    plans: createPlanStore(records, createPlanReporter(notify)),
    catalogues: createCatalogueStore(records),
    teams,
    organisations: createPortalOrganisationStore(records, teams, clock),
    organisationRequests: createOrganisationRequestStore(records),
    invitations: createInvitationStore(records, vault),
    inviteCodes: createInviteCodeStore(records, vault),
    terms: createTermsStore(records),
    changelog: createChangelogStore(records),
    proposals: createProposalStore(records),
    expiryNotices: createExpiryNoticeStore(records),
    users,
    mails,
    notifications,
    /** Puts mails into the outbox in the transaction of the change. */
    sendMail: createPortalMails({ mails, notifications, users, readTheme, mailer, settings, clock, log }),
    /** Browser sessions of the site. */
    sessions: createSessionStore(records, vault, settings, 'portal'),
    /** Authenticator apps of users of the portal, by the owner of their sessions. */
    factors: createFactorStore(records, vault),
    /** Users of identity providers whom accounts of the portal are linked to. */
    accountLinks: createAccountLinkStore(records, vault),
    attributes: createAttributeStore(records),
    pages: createPageStore(records),
    menus: createMenuStore(records),
    apps: createAppStore(records),
    accessRequests: createAccessRequestStore(records),
    credentials: createCredentialStore(records, vault, registeredClients),
    customCredentials: createCustomCredentialStore(records, vault, registeredClients),
    /** Queues portal webhook deliveries in the transaction of the change. */
    notify,
  };
}

/** Services of portal operations. */
export interface PortalServices {
  portal: PortalStores;
  controlPlane: ControlPlaneOf;
  identityProvider: IdentityProviderOf;
  records: Records;
  clock: Clock;
  settings: Settings;
}

interface OpenPortalServices extends LocalPlaneServices {
  records: Records;
  vault: Vault;
  outbound: OutboundClient;
  mailer: Mailer;
  log: Log;
  node: string;
}

/** Builds the portal's services from those of the installation. */
export function openPortal(
  services: OpenPortalServices,
): Pick<PortalServices, 'portal' | 'controlPlane' | 'identityProvider'> {
  const { outbound, settings } = services;
  const planes = {
    local: createLocalControlPlane(services),
    remote: createRemoteControlPlane(outbound, settings['management.tls.ca_file']),
  };
  return {
    portal: createPortalStores(services),
    controlPlane: selectControlPlane(planes),
    identityProvider: createIdentityProviders(outbound),
  };
}
