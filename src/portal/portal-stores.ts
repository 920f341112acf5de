import type { Clock } from '#base/clock.ts';
import type { Outbound } from '#base/outbound.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
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

export type PortalStores = ReturnType<typeof portalStores>;

/** What the portal keeps of publishing and access. */
export function portalStores(records: Records, vault: Vault, clock: Clock) {
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
  outbound: Outbound;
}

/** The portal's own tools, made of those of the installation. */
export function openPortal(tools: Openings): Pick<PortalTools, 'portal' | 'controlPlane'> {
  const { records, vault, clock, outbound } = tools;
  const planes = { local: localControlPlanes(tools), remote: remoteControlPlanes(outbound) };
  return { portal: portalStores(records, vault, clock), controlPlane: controlPlanes(planes) };
}
