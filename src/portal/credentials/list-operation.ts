import { z } from 'zod';
import { formatPortalTime } from '#base/clock.ts';
import { operation } from '#operations/operation.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { formatOptionalTime, lenientBool, portalSearchQuery } from '../shapes.ts';
import { type KeyCallServices, type KeyCalls, lastUseDays, readKeyCalls } from '../site/usage/key-use.ts';
import { createOrganisationFinder } from '../site/usage/organisation-finder.ts';
import { neverExpires } from './schema.ts';
import { type CredentialOutline, readCredentialOutlines } from './store.ts';

const dayMs = 86_400_000;
/** Days before its end in which a credential is about to expire. */
const expiringDays = 30;
const states = ['active', 'expiring', 'expired'] as const;
type CredentialState = (typeof states)[number];

const CredentialRow = z.object({
  ID: z.int(),
  AppID: z.int(),
  App: z.string(),
  AccessRequestID: z.int(),
  Plan: z.string(),
  Products: z.array(z.string()),
  CredentialHash: z.string(),
  State: z.enum(states),
  Expires: z.string(),
  CreatedAt: z.string(),
  RotatedAt: z.string(),
  LastUsedAt: z
    .string()
    .describe(`Empty without a call in the last ${lastUseDays} days, and where another installation counts them`),
});

function findState({ Expires }: CredentialOutline, nowMs: number): CredentialState {
  if (Expires === 0 || Expires - nowMs > expiringDays * dayMs) return 'active';
  return Expires > nowMs ? 'expiring' : 'expired';
}

type OutlineRow = Omit<z.output<typeof CredentialRow>, 'LastUsedAt'>;

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

const query = portalSearchQuery.extend({
  state: z.enum(states).optional().describe('Only credentials in this state'),
  unused: lenientBool
    .optional()
    .describe(`Only credentials without a call in the last ${lastUseDays} days, of providers in this installation`),
});

export const listAllCredentials = operation({
  surface: 'portal',
  noun: 'credentials',
  permission: 'secret',
  name: 'listAllCredentials',
  method: 'GET',
  path: '/portal-api/credentials',
  about:
    'Lists the credentials of all apps without their keys, newest first; `q` is a part of app, plan, product or hash.',
  query,
  returns: z.array(CredentialRow),
  async handle({ query: { page, per_page, limit = per_page, q, state, unused } }, services: Services) {
    const { portal, records, clock } = services;
    const start = (page - 1) * per_page;
    const end = start + Math.min(limit, per_page);
    const found: ListedKey[] = [];
    for await (const batch of readCredentialOutlines(records)) {
      const requests = await portal.accessRequests.byIds(batch.map(it => it.AccessRequestID));
      const matching = batch.flatMap(credential => {
        const request = requests.get(credential.AccessRequestID);
        const row = request && toRow(credential, request, clock.now());
        const isWanted = row && (!state || row.State === state) && hasText(row, q.toLowerCase());
        return isWanted ? [{ credential, request, row }] : [];
      });
      found.push(...(unused ? await selectUnused(matching, services) : matching));
      if (found.length >= end) break;
    }
    const listed = found.slice(start, end);
    const calls = unused ? new Map<number, KeyCalls>() : await readKeyCalls(listed, lastUseDays, services);
    return listed.map(({ row }) => ({ ...row, LastUsedAt: formatOptionalTime(calls.get(row.ID)?.lastUsedMs) }));
  },
});

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'> & KeyCallServices;

interface ListedKey {
  readonly credential: CredentialOutline;
  readonly request: StoredAccessRequest;
  readonly row: OutlineRow;
}

/** Keys without a call; those whose calls another installation counts may have some. */
async function selectUnused(keys: readonly ListedKey[], services: Services): Promise<ListedKey[]> {
  const findOrganisation = createOrganisationFinder(services);
  const counted: ListedKey[] = [];
  for (const it of keys) if ((await findOrganisation(it.request.ProviderID)) !== undefined) counted.push(it);
  const calls = await readKeyCalls(counted, lastUseDays, services);
  return counted.filter(({ credential }) => !calls.has(credential.ID));
}

const hasText = ({ App, Plan, Products, CredentialHash }: OutlineRow, text: string) =>
  [App, Plan, ...Products, CredentialHash].some(it => it.toLowerCase().includes(text));
