import { z } from 'zod';
import { formatPortalTime } from '#base/clock.ts';
import { operation } from '#operations/operation.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { formatOptionalTime, portalSearchQuery } from '../shapes.ts';
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
});

function findState({ Expires }: CredentialOutline, nowMs: number): CredentialState {
  if (Expires === 0 || Expires - nowMs > expiringDays * dayMs) return 'active';
  return Expires > nowMs ? 'expiring' : 'expired';
}

const toRow = (it: CredentialOutline, request: StoredAccessRequest, nowMs: number): z.output<typeof CredentialRow> => ({
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

const query = portalSearchQuery.extend({ state: z.enum(states).optional().describe('Only credentials in this state') });

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
  async handle({ query: { page, per_page, limit = per_page, q, state } }, services: Services) {
    const { portal, records, clock } = services;
    const start = (page - 1) * per_page;
    const end = start + Math.min(limit, per_page);
    const found: z.output<typeof CredentialRow>[] = [];
    for await (const batch of readCredentialOutlines(records)) {
      const requests = await portal.accessRequests.byIds(batch.map(it => it.AccessRequestID));
      for (const it of batch) {
        const request = requests.get(it.AccessRequestID);
        const row = request && toRow(it, request, clock.now());
        if (row && (!state || row.State === state) && hasText(row, q.toLowerCase())) found.push(row);
      }
      if (found.length >= end) break;
    }
    return found.slice(start, end);
  },
});

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

const hasText = ({ App, Plan, Products, CredentialHash }: z.output<typeof CredentialRow>, text: string) =>
  [App, Plan, ...Products, CredentialHash].some(it => it.toLowerCase().includes(text));
