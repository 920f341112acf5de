import { z } from 'zod';
import { parseUniqueJson } from '#base/json.ts';
import { checkMembers, formatUnknownMember, freeForm, readOnlyMembers } from '#base/members.ts';
import { Problem } from '#base/problems.ts';
import { chosenCid, formatOptionalTime, lenientBool, nonEmptyText, optionalMember, textUpTo } from '../shapes.ts';

/** Provider: a connection to one control plane. */
export const providerType = 'gw-pro';

/** Mask of a stored secret in responses; sent back, it keeps the stored secret. */
export const maskedSecret = '********';

const httpUrl = z
  .string()
  .max(2048)
  .refine(text => text === '' || /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'must be an http or https address')
  .refine(text => !URL.parse(text)?.username && !URL.parse(text)?.password, 'must not contain a user name or password');

const tagList = z.union([
  z.array(textUpTo(255)).max(100),
  textUpTo(10_000).transform(text => text.split(',').map(tag => tag.trim())),
]);

const metaDataMembers = z.object({
  URL: optionalMember(httpUrl),
  Secret: optionalMember(textUpTo(4096)),
  OrgID: optionalMember(textUpTo(64)),
  Gateway: optionalMember(httpUrl),
  PoliciesTags: optionalMember(tagList),
  InsecureSkipVerify: optionalMember(lenientBool),
});

const MetaData = metaDataMembers
  .transform(given => ({
    URL: given.URL ?? '',
    Secret: given.Secret ?? '',
    OrgID: given.OrgID ?? '',
    Gateway: given.Gateway ?? '',
    PoliciesTags: (given.PoliciesTags ?? []).filter(Boolean),
    InsecureSkipVerify: given.InsecureSkipVerify ?? false,
  }))
  .refine(given => !given.URL || given.Secret, {
    path: ['Secret'],
    message: 'must be the access key of a dashboard user there',
  });
type MetaData = z.output<typeof MetaData>;

/**
 * The configuration travels as a JSON document written as text, which the check of bodies does not look into: unknown members
 * of it are refused here.
 */
const metaDataText = z
  .union([z.string().max(65_536), freeForm(z.looseObject({}))], { error: 'must be a JSON document as text' })
  .transform((given, context): unknown => {
    try {
      const { value, unknown } = checkMembers(
        metaDataMembers,
        typeof given === 'string' ? parseUniqueJson(given) : given,
      );
      for (const member of unknown)
        context.addIssue({ code: 'custom', path: [member.path], message: formatUnknownMember(member) });
      return value;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      context.addIssue({ code: 'custom', message: 'must be a JSON document as text' });
      return z.NEVER;
    }
  })
  .pipe(MetaData);

const Configuration = readOnlyMembers(z.object({ MetaData: metaDataText }), ['ID']);

const readOnly = ['ID', 'Status', 'LastSyncedAt', 'LastError', 'Products', 'Plans', 'CreatedAt', 'UpdatedAt'];
export const ProviderWrite = readOnlyMembers(
  z.object({
    CID: optionalMember(chosenCid),
    Name: nonEmptyText(),
    Type: z.literal(providerType, { error: `must be ${providerType}` }),
    Configuration,
  }),
  readOnly,
);
/** The type and the persistent id of a provider do not change. */
export const ProviderChange = readOnlyMembers(
  z.object({ Name: optionalMember(nonEmptyText()), Configuration: optionalMember(Configuration) }),
  [...readOnly, 'CID', 'Type'],
);

/** Numbers of products or plans that a synchronisation added, changed and hid. */
export const SyncCountsView = z.object({ Added: z.int(), Changed: z.int(), Hidden: z.int() });
export type SyncCounts = z.output<typeof SyncCountsView>;

export interface SyncOutcome {
  readonly Products: SyncCounts;
  readonly Plans: SyncCounts;
}

/** A synchronisation of the past; without counts where it failed. */
export interface SyncRun extends Partial<SyncOutcome> {
  readonly At: number;
  /** Why it failed, without the secret; empty for a success. */
  readonly Error: string;
}

/** Synchronisations that a provider remembers. */
const maxSyncRuns = 20;

export interface StoredProvider {
  ID: number;
  CID: string;
  Name: string;
  Type: typeof providerType;
  Status: 'Unknown' | 'Up' | 'Down';
  /** 0 before the first synchronisation. */
  LastSyncedAt: number;
  /** Why the last failed call failed, without the secret; absent after a successful synchronisation. */
  LastError?: string;
  /** Newest first. */
  Runs?: readonly SyncRun[];
  MetaData: Omit<MetaData, 'Secret'>;
  Secret: string;
  CreatedAt: number;
  UpdatedAt: number;
}

export const ProviderRow = z.object({
  ID: z.int(),
  CID: z.string(),
  Name: z.string(),
  Type: z.string(),
  Status: z.enum(['Unknown', 'Up', 'Down']),
  LastSyncedAt: z.string(),
  LastError: z.string().describe('Why the last failed call failed; empty after a successful synchronisation'),
  Products: z.int().describe('Number of its products, hidden ones included'),
  Plans: z.int().describe('Number of its plans, hidden ones included'),
});
export const PortalProvider = ProviderRow.extend({
  Configuration: z.object({ ID: z.int(), MetaData: z.string() }),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

/** Numbers of products and plans of a provider. */
export interface OfferCounts {
  readonly Products: number;
  readonly Plans: number;
}
const noOffers: OfferCounts = { Products: 0, Plans: 0 };

/** The provider with one more synchronisation; the oldest ones are dropped. */
export const addSyncRun = (provider: StoredProvider, run: SyncRun): StoredProvider => ({
  ...provider,
  Runs: [run, ...(provider.Runs ?? [])].slice(0, maxSyncRuns),
});

export const toProviderRow = (provider: StoredProvider, nowMs: number, counts = noOffers) => ({
  ID: provider.ID,
  CID: provider.CID,
  Name: provider.Name,
  Type: provider.Type,
  Status: provider.Status,
  LastSyncedAt: provider.LastSyncedAt === 0 ? '' : `${spanText(nowMs - provider.LastSyncedAt)} ago`,
  LastError: provider.LastError ?? '',
  ...counts,
});

export const toProviderView = (provider: StoredProvider, nowMs: number, counts = noOffers) => ({
  ...toProviderRow(provider, nowMs, counts),
  Configuration: {
    ID: provider.ID,
    MetaData: JSON.stringify({ ...provider.MetaData, Secret: provider.Secret ? maskedSecret : '' }),
  },
  CreatedAt: formatOptionalTime(provider.CreatedAt),
  UpdatedAt: formatOptionalTime(provider.UpdatedAt),
});

const units: readonly [name: string, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** The two largest units of a span: `3 minutes 12 seconds`. */
export function spanText(ms: number): string {
  let rest = Math.max(0, Math.floor(ms / 1000));
  const parts: string[] = [];
  for (const [name, seconds] of units) {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? '' : 's'}`);
  }
  return parts.slice(0, 2).join(' ') || '0 seconds';
}
