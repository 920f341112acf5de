import { z } from 'zod';
import { formatPortalTime } from '#base/clock.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { formatOptionalTime, lenientBool } from '../shapes.ts';
import { type KeyCallServices, lastUseDays, readKeyCalls } from '../site/usage/key-use.ts';
import { createOrganisationFinder } from '../site/usage/organisation-finder.ts';
import { neverExpires } from './schema.ts';
import { type CredentialOutline, readCredentialOutlines } from './store.ts';

const dayMs = 86_400_000;
/** Days before its end in which a credential is about to expire. */
const expiringDays = 30;
const credentialStates = ['active', 'expiring', 'expired'] as const;
type CredentialState = (typeof credentialStates)[number];

export const OutlineRow = z.object({
  ID: z.int(),
  AppID: z.int(),
  App: z.string(),
  AccessRequestID: z.int(),
  Plan: z.string(),
  Products: z.array(z.string()),
  CredentialHash: z.string(),
  State: z.enum(credentialStates),
  Expires: z.string(),
  CreatedAt: z.string(),
  RotatedAt: z.string(),
});
type OutlineRow = z.output<typeof OutlineRow>;

export const credentialFilters = {
  state: z.enum(credentialStates).optional().describe('Only credentials in this state'),
  unused: lenientBool
    .optional()
    .describe(`Only credentials without a call in the last ${lastUseDays} days, of providers in this installation`),
};

export interface CredentialFilter {
  readonly q: string;
  readonly state?: CredentialState | undefined;
  readonly unused?: boolean | undefined;
}

export type CredentialListServices = Pick<PortalServices, 'portal' | 'records' | 'clock'> & KeyCallServices;

/** A credential without its key, with its request. */
export interface FoundCredential {
  readonly credential: CredentialOutline;
  readonly request: StoredAccessRequest;
  readonly row: OutlineRow;
}

export function findState({ Expires }: Pick<CredentialOutline, 'Expires'>, nowMs: number): CredentialState {
  if (Expires === 0 || Expires - nowMs > expiringDays * dayMs) return 'active';
  return Expires > nowMs ? 'expiring' : 'expired';
}

const toRow = (it: CredentialOutline, request: StoredAccessRequest, nowMs: number): OutlineRow => ({
  ID: it.ID,
  AppID: request.AppID,
  App: request.Names.app,
  AccessRequestID: request.ID,
  Plan: request.Names.plan,
  Products: request.Names.products,
  CredentialHash: it.CredentialHash,
  State: findState(it, nowMs),
  Expires: it.Expires === 0 ? neverExpires : formatPortalTime(it.Expires),
  CreatedAt: formatOptionalTime(it.CreatedAt),
  RotatedAt: formatOptionalTime(it.RotatedAt),
});

/** Credentials that match a filter, newest first: at least `count`, or all. */
export async function findCredentials(
  { q, state, unused }: CredentialFilter,
  count: number,
  services: CredentialListServices,
): Promise<FoundCredential[]> {
  const { portal, records, clock } = services;
  const found: FoundCredential[] = [];
  for await (const batch of readCredentialOutlines(records)) {
    const requests = await portal.accessRequests.byIds(batch.map(it => it.AccessRequestID));
    const matching = batch.flatMap(credential => {
      const request = requests.get(credential.AccessRequestID);
      const row = request && toRow(credential, request, clock.now());
      const isWanted = row && (!state || row.State === state) && hasText(row, q.toLowerCase());
      return isWanted ? [{ credential, request, row }] : [];
    });
    found.push(...(unused ? await selectUnused(matching, services) : matching));
    if (found.length >= count) break;
  }
  return found;
}

/** Keys without a call; those whose calls another installation counts may have some. */
async function selectUnused(
  keys: readonly FoundCredential[],
  services: CredentialListServices,
): Promise<FoundCredential[]> {
  const findOrganisation = createOrganisationFinder(services);
  const counted: FoundCredential[] = [];
  for (const it of keys) if ((await findOrganisation(it.request.ProviderID)) !== undefined) counted.push(it);
  const calls = await readKeyCalls(counted, lastUseDays, services);
  return counted.filter(({ credential }) => !calls.has(credential.ID));
}

const hasText = ({ App, Plan, Products, CredentialHash }: OutlineRow, text: string) =>
  [App, Plan, ...Products, CredentialHash].some(it => it.toLowerCase().includes(text));
