import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { deliveryStore } from '#events/deliveries/store.ts';
import type { Records } from '#storage/records.ts';
import { accessRequestStore } from './access-requests/store.ts';
import { appStore } from './apps/store.ts';
import { catalogueStore } from './catalogues/store.ts';
import { type ControlPlaneOf, controlPlanes } from './control-plane.ts';
import { type LocalPlaneTools, localControlPlanes } from './control-plane-local.ts';
import { remoteControlPlanes } from './control-plane-remote.ts';
import { credentialStore } from './credentials/store.ts';
import { portalOrganisationStore, teamStore } from './organisations/store.ts';
import { planStore } from './plans/store.ts';
import { productStore } from './products/store.ts';
import { providerStore } from './providers/store.ts';
import { portalUserStore } from './users/store.ts';
import { portalTelling } from './webhooks/notify.ts';
import { portalWebhookStore } from './webhooks/store.ts';

export type PortalStores = ReturnType<typeof portalStores>;

interface StoreTools {
  readonly records: Records;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly settings: Settings;
}

/** What the portal keeps of publishing and access. */
export function portalStores({ records, vault, clock, settings }: StoreTools) {
  const webhooks = portalWebhookStore(records, vault);
  const teams = teamStore(records);
  return {
    providers: providerStore(records, vault),
    products: productStore(records),
    plans: planStore(records),
    catalogues: catalogueStore(records),
    teams,
    organisations: portalOrganisationStore(records, teams, clock),
    users: portalUserStore(records),
    apps: appStore(records),
    accessRequests: accessRequestStore(records),
    credentials: credentialStore(records, vault),
    /** Tells the portal's webhooks of something, inside the write that brings it about. */
    tell: portalTelling({ webhooks, deliveries: deliveryStore(records), vault, clock, settings }),
  };
}

/** What the portal's operations choose from. */
export interface PortalTools {
  portal: PortalStores;
  controlPlane: ControlPlaneOf;
  records: Records;
  clock: Clock;
  settings: Settings;
}

interface Openings extends LocalPlaneTools {
  records: Records;
  vault: Vault;
  outbound: OutboundClient;
}

/** The portal's own tools, made of those of the installation. */
export function openPortal(tools: Openings): Pick<PortalTools, 'portal' | 'controlPlane'> {
  const { outbound } = tools;
  const planes = { local: localControlPlanes(tools), remote: remoteControlPlanes(outbound) };
  return { portal: portalStores(tools), controlPlane: controlPlanes(planes) };
}
