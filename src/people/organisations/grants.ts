import { isIP } from 'node:net';
import { z } from 'zod';
import { formatPath } from '#base/json.ts';
import { meaningfulNull } from '#base/members.ts';
import { problems } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import { normalizeListenPath } from '#definition/listen-path.ts';
import { normalizeHost } from '#definition/path-template.ts';
import { formatValidationError } from '#operations/validation-error.ts';

/** Bounds of one organisation's grants: every traffic thread loads them whole. */
const maxGrantEntries = 1000;
const maxPatternLength = 253;
const maxPathLength = 500;
const maxObjects = 1_000_000_000;

const listOf = <T extends z.ZodType>(entry: T) => z.array(entry).max(maxGrantEntries);

const hostName = /^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)$/;

const hostPattern = z
  .string()
  .max(maxPatternLength)
  .transform(normalizeHost)
  .refine(name => hostName.test(name), 'must be a host name, *. and a host name, or *');

const pathPrefix = z
  .string()
  .max(maxPathLength)
  .refine(
    path => path.startsWith('/') && !/[{}?#\s]/.test(path),
    'must be a path that begins with / and has no parameters',
  )
  .transform(normalizeListenPath);

const namePattern = z
  .string()
  .max(maxPatternLength)
  .regex(/^[\x21-\x7e]+$/, 'must be a name, in which * stands for any characters');

/** Address classes that can be granted by name. Classes that are always blocked cannot be granted. */
export const networkClasses = ['public', 'private', 'loopback'] as const;

const network = z
  .string()
  .max(maxPatternLength)
  .refine(
    text => (networkClasses as readonly string[]).includes(text) || isCidr(text),
    'must be public, private, loopback or a network such as 10.1.0.0/16',
  );

function isCidr(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
}

/** Bounds of a granted rate; a longer window than a month is a quota. */
const maxRate = 1_000_000_000;
const maxPerSeconds = 31 * 86_400;

const maxCount = z.int().min(0).max(maxObjects).nullable();

/** Grants as an operator writes them: omitted members follow the tenant defaults; unknown ones are rejected. */
export const GrantsWrite = z.strictObject({
  domains: listOf(hostPattern).optional().describe('Allowed hosts of its APIs: names, `*.` and a name, or `*`'),
  paths: listOf(pathPrefix)
    .optional()
    .describe('Prefixes that contain its listen paths; empty for any path that overlaps no other organisation’s'),
  secrets: listOf(namePattern)
    .optional()
    .describe('Names of secrets allowed in its definitions; `*` matches any characters'),
  networks: listOf(network)
    .optional()
    .describe('Allowed networks of its upstreams, webhooks and plugins: `public`, `private`, `loopback`, networks'),
  max_apis: meaningfulNull(maxCount.optional().describe('Maximum number of APIs; null for no maximum')),
  max_keys: meaningfulNull(maxCount.optional().describe('Maximum number of keys; null for no maximum')),
  max_policies: meaningfulNull(maxCount.optional().describe('Maximum number of policies; null for no maximum')),
  max_hooks: meaningfulNull(maxCount.optional().describe('Maximum number of webhooks; null for no maximum')),
  rate: meaningfulNull(
    z
      .number()
      .positive()
      .max(maxRate)
      .nullable()
      .optional()
      .describe('Maximum number of requests of all its APIs together in `per` seconds; null for no maximum'),
  ),
  per: z.int().min(1).max(maxPerSeconds).optional().describe('Period of `rate` in seconds'),
});
export type GrantsWrite = z.output<typeof GrantsWrite>;

/** Effective grants: every member has a value. */
export const Grants = GrantsWrite.required();
export type Grants = Readonly<z.output<typeof Grants>>;

const noObjectLimits = { max_apis: null, max_keys: null, max_policies: null, max_hooks: null } as const;

export type ObjectLimitName = keyof typeof noObjectLimits;

const unlimitedTraffic = { rate: null, per: 1 } as const;

/** Grants of the operator's own organisation, created at first start. */
export const operatorGrants: Grants = {
  domains: ['*'],
  paths: ['/'],
  secrets: ['*'],
  networks: [...networkClasses],
  ...noObjectLimits,
  ...unlimitedTraffic,
};

/** Tenant defaults without the setting. */
const builtInGrants: Grants = {
  domains: [],
  paths: [],
  secrets: [],
  networks: ['public'],
  ...noObjectLimits,
  ...unlimitedTraffic,
};

const problem = problems('settings', {
  grants_unusable: { status: 500, message: 'tenants.grants: {faults}' },
});

/** Tenant defaults from the settings; an invalid value aborts the start. */
export function readTenantDefaults(settings: Pick<Settings, 'tenants.grants'>): Grants {
  const parsed = GrantsWrite.safeParse(settings['tenants.grants']);
  if (parsed.success) return resolveGrants(parsed.data, builtInGrants);
  const faults = parsed.error.issues.map(({ path, message }) =>
    formatValidationError({ path: formatPath(path), message }),
  );
  throw problem.grants_unusable({ detail: { faults: faults.join('; ') } });
}

export const resolveGrants = (granted: GrantsWrite, defaults: Grants): Grants => ({ ...defaults, ...granted });

/** Glob match: `*` stands for any characters, also none. */
export function matchesNamePattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first)) return false;
  let position = first.length;
  for (const part of rest) {
    const matchedAt = name.indexOf(part, position);
    if (matchedAt < 0) return false;
    position = matchedAt + part.length;
  }
  return name.length - last.length >= position && name.endsWith(last);
}

export const isSecretGranted = ({ secrets }: Pick<Grants, 'secrets'>, name: string): boolean =>
  secrets.some(pattern => matchesNamePattern(pattern, name));

export interface GrantRow {
  readonly org_id: string;
  readonly body: string;
}

/** Grants as stored in the database. */
export interface StoredGrants {
  /** The organisation created at first start: that of the operator. */
  readonly operatorOrgId: string;
  readonly rows: readonly GrantRow[];
}
