import { z } from 'zod';
import { utcZone } from '#base/time-zone.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { rejectNarrowedActor } from './analytics-scope.ts';
import { parseDateRange, rangeParams, rangePath } from './range.ts';
import { usagePage } from './schema.ts';
import { formatUsageCsv } from './usage-csv.ts';
import {
  queryUsage,
  type UsageParameters,
  type UsageSelection,
  type UsageServices,
  usageProblems,
  usageQueryMembers,
} from './usage-query.ts';

const declared = {
  surface: 'dashboard',
  noun: 'analytics',
  permission: 'analytics:read',
  method: 'GET',
  query: z.object(usageQueryMembers),
  returns: usagePage,
  toCsv: formatUsageCsv,
  problems: usageProblems,
} as const;

const keyHash = z.string().regex(/^[0-9a-fA-F]{8,64}$/, 'must be the hash of a key');
/** The router bounds a path parameter at 1024 characters. */
const maxKeyHashes = 15;
const keyHashes = z
  .string()
  .transform(text => [...new Set(text.split(',').map(hash => hash.trim().toLowerCase()))])
  .pipe(z.array(keyHash).max(maxKeyHashes, `must be at most ${maxKeyHashes} hashes`));

const keyParams = rangeParams.extend({ keyHash });
const clientParams = rangeParams.extend({ OAuthClientID: z.string() });

/** Activity of callers: lists without pages by default, which `owned_analytics` leaves out. */
async function queryActivity(
  services: UsageServices,
  { actor, params, query }: { actor: Actor; params: z.output<typeof rangeParams>; query: UsageParameters },
  selection: UsageSelection,
) {
  rejectNarrowedActor(actor, 'the activity of keys and clients');
  const span = parseDateRange(params, query.tz ?? utcZone);
  return queryUsage(services, actor, span, query, { defaultPage: -1, ...selection });
}

const ofKey = {
  about:
    'Counts the requests of one key, found by its hash, by API and path; 00000000 stands for requests without a key.',
  params: keyParams,
} as const;
const selectKey = (hash: string): UsageSelection => ({
  groups: ['api_id', 'path', 'key'],
  keyHashes: [hash.toLowerCase()],
});

export const countKeyActivity = operation({
  ...declared,
  ...ofKey,
  name: 'countKeyActivity',
  path: `/api/activity/keys/{keyHash}/${rangePath}`,
  handle: (call, services: UsageServices) => queryActivity(services, call, selectKey(call.params.keyHash)),
});

export const countKeyEndpoints = operation({
  ...declared,
  ...ofKey,
  about: 'Alias of countKeyActivity, with the older path.',
  name: 'countKeyEndpoints',
  path: `/api/activity/keys/endpoint/{keyHash}/${rangePath}`,
  handle: (call, services: UsageServices) => queryActivity(services, call, selectKey(call.params.keyHash)),
});

export const sumKeyActivity = operation({
  ...declared,
  name: 'sumKeyActivity',
  path: `/api/activity/keys/aggregate/{keyHashes}/${rangePath}`,
  about: `Sums the requests of up to ${maxKeyHashes} keys, found by their hashes, by day or another resolution.`,
  params: rangeParams.extend({ keyHashes }),
  handle: (call, services: UsageServices) =>
    queryActivity(services, call, { groups: [], keyHashes: call.params.keyHashes, resolution: 'day' }),
});

const ofClient = {
  about: 'Counts the requests with tokens of one OAuth client, by API and path.',
  params: clientParams,
} as const;
const selectClient = (oauthId: string): UsageSelection => ({ groups: ['api_id', 'path', 'oauth_id'], oauthId });

export const countClientActivity = operation({
  ...declared,
  ...ofClient,
  name: 'countClientActivity',
  path: `/api/activity/oauthid/{OAuthClientID}/${rangePath}`,
  handle: (call, services: UsageServices) => queryActivity(services, call, selectClient(call.params.OAuthClientID)),
});

export const countClientEndpoints = operation({
  ...declared,
  ...ofClient,
  about: 'Alias of countClientActivity, with the older path.',
  name: 'countClientEndpoints',
  path: `/api/activity/oauthid/endpoint/{OAuthClientID}/${rangePath}`,
  handle: (call, services: UsageServices) => queryActivity(services, call, selectClient(call.params.OAuthClientID)),
});

export const activityOperations = [
  countKeyActivity,
  countKeyEndpoints,
  sumKeyActivity,
  countClientActivity,
  countClientEndpoints,
];
