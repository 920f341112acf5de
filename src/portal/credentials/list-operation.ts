import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { formatOptionalTime, portalSearchQuery } from '../shapes.ts';
import { type KeyCalls, lastUseDays, readKeyCalls } from '../site/usage/key-use.ts';
import { type CredentialListServices, credentialFilters, findCredentials, OutlineRow } from './found-credentials.ts';

const CredentialRow = OutlineRow.extend({
  LastUsedAt: z
    .string()
    .describe(`Empty without a call in the last ${lastUseDays} days, and where another installation counts them`),
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
  query: portalSearchQuery.extend(credentialFilters),
  returns: z.array(CredentialRow),
  async handle({ query: { page, per_page, limit = per_page, ...filter } }, services: CredentialListServices) {
    const start = (page - 1) * per_page;
    const end = start + Math.min(limit, per_page);
    const listed = (await findCredentials(filter, end, services)).slice(start, end);
    const calls = filter.unused ? new Map<number, KeyCalls>() : await readKeyCalls(listed, lastUseDays, services);
    return listed.map(({ row }) => ({ ...row, LastUsedAt: formatOptionalTime(calls.get(row.ID)?.lastUsedMs) }));
  },
});
