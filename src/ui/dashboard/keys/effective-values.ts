import type { ResultOf } from '../../kit/calls.ts';
import { formatNumber, formatSeconds } from '../../kit/format.ts';
import { fromPointerToken, toPointerToken } from '../../kit/json-pointer.ts';
import { texts } from '../../texts/texts.ts';
import { describePeriod, describeRate } from '../limits/limit-text.ts';

const own = texts.keys;

export type Explanation = NonNullable<ResultOf<'POST /api/keys/preview'>['explanation']>;
type ExplainedItem = Explanation['values'][number];
export type ValueOrigin = ExplainedItem['sources'][number];

/** One effective value with its origins, and the values of others that do not apply. */
export interface EffectiveRow {
  readonly name: string;
  readonly value: string;
  readonly sources: readonly ValueOrigin[];
  readonly overridden: readonly { readonly source: ValueOrigin; readonly value: string }[];
}

type Values = ReadonlyMap<string, ExplainedItem>;
type Numbers = Readonly<Record<string, number>>;

interface LimitRow {
  readonly name: string;
  readonly members: readonly [string, ...string[]];
  describe(numbers: Numbers): string;
  /** Left out where no source sets it. */
  readonly isOptional?: boolean;
}

const describeThrottle = ({ throttle_interval: span = 0, throttle_retry_limit: tries = 0 }: Numbers) =>
  span > 0 && tries > 0 ? own.retries(formatNumber(tries), formatSeconds(span)) : own.atOnce;
const describeCount = (count = 0) => (count > 0 ? formatNumber(count) : texts.kit.unlimited);

/** Members that belong together are one row: a rate without its time says nothing. */
const limitRows: readonly LimitRow[] = [
  { name: own.names.rate, members: ['rate', 'per'], describe: describeRate },
  { name: own.names.quota, members: ['quota_max'], describe: it => describeCount(it.quota_max) },
  {
    name: own.names.period,
    members: ['quota_renewal_rate'],
    describe: it => describePeriod(it.quota_renewal_rate),
    isOptional: true,
  },
  {
    name: own.names.throttle,
    members: ['throttle_interval', 'throttle_retry_limit'],
    describe: describeThrottle,
    isOptional: true,
  },
  {
    name: own.names.depth,
    members: ['max_query_depth'],
    describe: it => describeCount(it.max_query_depth),
    isOptional: true,
  },
];

export const toValueMap = ({ values }: Explanation): Values => new Map(values.map(value => [value.pointer, value]));

const sourceKey = ({ kind, id }: ValueOrigin) => `${kind} ${id}`;

/** Rows of the limits at a place: of the key itself, or of one of its APIs. */
export function listLimitRows(values: Values, apiId?: string): readonly EffectiveRow[] {
  const prefix = apiId === undefined ? '' : `/access_rights/${toPointerToken(apiId)}/limit`;
  return limitRows.flatMap(row => {
    const found = row.members.map(member => values.get(`${prefix}/${member}`));
    const first = found[0];
    if (!first) return [];
    const numbers = toNumbers(row.members, found);
    const overridden = listOverridden(row, found, numbers);
    const isUnset = Object.values(numbers).every(it => it <= 0) && overridden.length === 0;
    if (row.isOptional && isUnset) return [];
    return [{ name: row.name, value: row.describe(numbers), sources: first.sources, overridden }];
  });
}

const toNumbers = (members: readonly string[], found: readonly (ExplainedItem | undefined)[]): Numbers =>
  Object.fromEntries(members.map((member, place) => [member, Number(found[place]?.value ?? 0)]));

/** A source that differs in one member has the others of the effective value. */
function listOverridden(row: LimitRow, found: readonly (ExplainedItem | undefined)[], effective: Numbers) {
  const bySource = new Map<string, { source: ValueOrigin; numbers: Record<string, number> }>();
  for (const [place, item] of found.entries())
    for (const { kind, id, value } of item?.overridden ?? []) {
      const source = { kind, id };
      const entry = bySource.get(sourceKey(source)) ?? { source, numbers: { ...effective } };
      entry.numbers[row.members[place] ?? ''] = Number(value);
      bySource.set(sourceKey(source), entry);
    }
  return [...bySource.values()].map(({ source, numbers }) => ({ source, value: row.describe(numbers) }));
}

export interface EffectiveApi {
  readonly id: string;
  readonly sources: readonly ValueOrigin[];
  readonly versions: readonly string[];
  readonly limits: readonly EffectiveRow[];
  readonly paths: readonly string[];
}

interface UrlItem {
  readonly url?: string;
  readonly methods?: readonly string[] | null;
}

const rightPointer = /^\/access_rights\/([^/]+)$/;
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** APIs that the key may call, with what applies to each. */
export const listEffectiveApis = (values: Values): readonly EffectiveApi[] =>
  [...values.values()].flatMap(({ pointer, sources }) => {
    const segment = rightPointer.exec(pointer)?.[1];
    if (segment === undefined) return [];
    const id = fromPointerToken(segment);
    const urls = toList(values.get(`${pointer}/allowed_urls`)?.value) as readonly UrlItem[];
    return [
      {
        id,
        sources,
        versions: toList(values.get(`${pointer}/versions`)?.value).map(String),
        limits: listLimitRows(values, id),
        paths: urls.map(({ url = '', methods }) => `${(methods ?? []).join(', ')} ${url}`.trim()),
      },
    ];
  });
