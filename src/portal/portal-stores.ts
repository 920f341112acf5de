import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { createDeliveryStore } from '#events/deliveries/store.ts';
import { createSessionStore } from '#people/sessions/store.ts';
import type { Records } from '#storage/records.ts';
import { createAccessRequestStore } from './access-requests/store.ts';
import { createAppStore } from './apps/store.ts';
import { createAttributeStore } from './attributes/store.ts';
import { createCatalogueStore } from './catalogues/store.ts';
import { type ControlPlaneOf, selectControlPlane } from './control-plane.ts';
import { createLocalControlPlane, type LocalPlaneServices } from './control-plane-local.ts';
import { createRemoteControlPlane } from './control-plane-remote.ts';
import { createCredentialStore } from './credentials/store.ts';
import { createCustomCredentialStore } from './custom-credentials/store.ts';
import { createDocStore } from './docs/store.ts';
import { createPortalFileStore } from './files/store.ts';
import { createJoinTableStore } from './join-table-store.ts';
import { createClientTypeStore, createOauthProviderStore } from './oauth-providers/store.ts';
import { createPortalOrganisationStore, createTeamStore } from './organisations/store.ts';
import { createPageStore } from './pages/store.ts';
import { createPlanStore } from './plans/store.ts';
import { createLabelStore } from './posts/label-store.ts';
import { createProductStore } from './products/store.ts';
import { createProviderStore } from './providers/store.ts';
import { createThemeStore } from './themes/store.ts';
import { createPortalUserStore } from './users/store.ts';
import { createPortalNotifier } from './webhooks/notify.ts';
import { createPortalWebhookStore } from './webhooks/store.ts';

export type PortalStores = ReturnType<typeof createPortalStores>;

interface StoreServices {
  readonly records: Records;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly settings: Settings;
}

/** Stores of publishing and access. */
export function createPortalStores({ records, vault, clock, settings }: StoreServices) {
  const webhooks = createPortalWebhookStore(records, vault);
  const teams = createTeamStore(records);
  const files = createPortalFileStore(records);
  return {
    providers: createProviderStore(records, vault),
    files,
    themes: createThemeStore(records, files),
    docs: createDocStore(records),
    tags: createLabelStore(records, 'portal_tags'),
    productTags: createJoinTableStore(records, 'portal_product_tags', 'tag_id'),
    oauthProviders: createOauthProviderStore(records, vault),
    clientTypes: createClientTypeStore(records),
    products: createProductStore(records),
    plans: createPlanStore(records),
    catalogues: createCatalogueStore(records),
    teams,
    organisations: createPortalOrganisationStore(records, teams, clock),
    users: createPortalUserStore(records),
    /** Browser sessions of the site. */
    sessions: createSessionStore(records, vault, settings, 'portal'),
    attributes: createAttributeStore(records),
    pages: createPageStore(records),
    apps: createAppStore(records),
    accessRequests: createAccessRequestStore(records),
    credentials: createCredentialStore(records, vault),
    customCredentials: createCustomCredentialStore(records, vault),
    /** Queues portal webhook deliveries in the transaction of the change. */
    notify: createPortalNotifier({ webhooks, deliveries: createDeliveryStore(records), vault, clock, settings }),
  };
}

/** Services of portal operations. */
export interface PortalServices {
  portal: PortalStores;
  controlPlane: ControlPlaneOf;
  records: Records;
  clock: Clock;
  settings: Settings;
}

interface OpenPortalServices extends LocalPlaneServices {
  records: Records;
  vault: Vault;
  outbound: OutboundClient;
}

/** Builds the portal's services from those of the installation. */
export function openPortal(services: OpenPortalServices): Pick<PortalServices, 'portal' | 'controlPlane'> {
  const { outbound, settings } = services;
  const planes = {
    local: createLocalControlPlane(services),
    remote: createRemoteControlPlane(outbound, settings['management.tls.ca_file']),
  };
  return { portal: createPortalStores(services), controlPlane: selectControlPlane(planes) };
}
