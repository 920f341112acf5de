import { createAgentNames } from '#base/agent-name.ts';
import type { LatencyRow, UsageRow, UsageTagRow } from '#storage/analytics-tables.ts';
import type { CallRecord } from './batch.ts';
import { createCallGroups } from './call-groups.ts';
import { findLatencyBucket } from './latency-histogram.ts';
import { normalisePath } from './paths.ts';
import {
  countCall,
  createUsageRow,
  type Dimensions,
  digestRowName,
  mergeUsageRow,
  minuteMs,
  otherName,
  rowNameOf,
  toMicros,
} from './usage-rows.ts';
import { createOtherTags, createTagSets, indexTagSets, noTags, type TagSet, toTagRows } from './usage-tags.ts';

export interface UsageRollUpOptions {
  /** Rows of one API and minute before paths are folded; twice as many before keys are. */
  readonly rowsPerMinute: number;
  readonly normalisePaths: boolean;
  /** Distinct tags of one API and hour before tags are folded. */
  readonly maxTagsPerHour?: number;
  /** Bound of unwritten rows. */
  readonly maxPendingRows?: number;
  /** Bound of unwritten buckets of latency histograms; requests beyond it count without latency. */
  readonly maxPendingBuckets?: number;
}

/** Rows of one write. */
export interface DrainedUsage {
  readonly rows: readonly UsageRow[];
  readonly latencies: readonly LatencyRow[];
  readonly tags: readonly UsageTagRow[];
}

/** An unwritten row, and its requests by bucket of the latency histogram. */
interface PendingUsage {
  readonly row: UsageRow;
  readonly tagSet: TagSet;
  readonly latencies: Map<number, number>;
  /** Collects calls beyond the cardinality limit. */
  readonly isFolded: boolean;
}

const defaultMaxTagsPerHour = 1000;
const defaultMaxPendingRows = 50_000;
const defaultMaxPendingBuckets = 250_000;
/** Minutes whose row names are tracked, so that the bound holds across several writes of one minute. */
const trackedMinutes = 2;

/** Rolls up calls by minute within bounds. Holds only unwritten rows. */
export function createUsageRollUp({
  rowsPerMinute,
  normalisePaths,
  maxTagsPerHour = defaultMaxTagsPerHour,
  maxPendingRows = defaultMaxPendingRows,
  maxPendingBuckets = defaultMaxPendingBuckets,
}: UsageRollUpOptions) {
  const pending = createPendingUsage(maxPendingRows, maxPendingBuckets);
  const cardinality = createCardinalityLimit(rowsPerMinute);
  const tagSets = createTagSets({ maxTagsPerHour });
  const findUsage = createUsageFinder({ pending, cardinality, tagSets, normalisePaths });
  const groups = createCallGroups<PendingUsage>();
  const totals = { records: 0, folded: 0, lost: 0 };

  function count(usage: PendingUsage, record: CallRecord): void {
    countCall(usage.row, record);
    pending.addLatency(usage, findLatencyBucket(toMicros(record.number('totalMs'))), 1);
    if (usage.isFolded) totals.folded++;
  }

  function add(record: CallRecord): void {
    totals.records++;
    const known = groups.find(record);
    if (known) return count(known, record);
    const usage = findUsage(record);
    if (!usage) {
      totals.lost++;
      return;
    }
    groups.set(record, usage);
    count(usage, record);
  }

  return {
    add,
    totals,
    countPending: pending.count,
    /** Drains unwritten rows, sorted: a common lock order prevents deadlocks between processes. */
    drain(nowMs: number): DrainedUsage {
      groups.clear();
      cardinality.deleteBefore(nowMs - trackedMinutes * minuteMs);
      tagSets.deleteBefore(nowMs);
      return pending.drain();
    },
    /** Restores rows after a failed write. */
    restore(drained: DrainedUsage): void {
      totals.lost += restoreUsage(pending, drained);
    },
  };
}

/** Adds drained rows again, with their latencies and tags; returns the calls of those without room. */
function restoreUsage(pending: PendingRows, { rows, latencies, tags }: DrainedUsage): number {
  const setsById = indexTagSets(tags);
  const restored = new Map<string, PendingUsage>();
  let lost = 0;
  for (const row of rows) {
    const name = rowNameOf(row);
    const newer = pending.find(name);
    if (newer) mergeUsageRow(newer.row, row);
    const usage = newer ?? pending.add(name, row, setsById.get(row.tag_set) ?? noTags);
    if (usage) restored.set(row.id, usage);
    else lost += row.hits;
  }
  for (const { id, bucket, hits } of latencies) {
    const usage = restored.get(id);
    if (usage) pending.addLatency(usage, bucket, hits);
  }
  return lost;
}

type PendingRows = ReturnType<typeof createPendingUsage>;

interface UsageFinderOptions {
  readonly pending: PendingRows;
  readonly cardinality: ReturnType<typeof createCardinalityLimit>;
  readonly tagSets: ReturnType<typeof createTagSets>;
  readonly normalisePaths: boolean;
}

/** Finds or adds the unwritten row of a call; undefined where there is no room. */
function createUsageFinder({ pending, cardinality, tagSets, normalisePaths }: UsageFinderOptions) {
  const readDimensions = createDimensionReader(normalisePaths);
  return (record: CallRecord): PendingUsage | undefined => {
    const ownTags = tagSets.read(record);
    const own = readDimensions(record, ownTags);
    const ownName = rowNameOf(own);
    const known = pending.find(ownName);
    if (known) return known;
    const dimensions = cardinality.limit(own);
    const name = dimensions === own ? ownName : rowNameOf(dimensions);
    const { retentionSeconds } = record.api;
    const expiresAt = retentionSeconds > 0 ? dimensions.minute + minuteMs + retentionSeconds * 1000 : 0;
    const tagSet = dimensions.tag_set === ownTags.id ? ownTags : createOtherTags(own.org_id);
    return pending.find(name) ?? pending.add(name, createUsageRow(dimensions, expiresAt), tagSet);
  };
}

/** Unwritten rows by name, bounded. */
function createPendingUsage(maxRows: number, maxBuckets: number) {
  let byName = new Map<string, PendingUsage>();
  let buckets = 0;
  return {
    find: (name: string) => byName.get(name),
    count: () => byName.size,
    /** Undefined where there is no room. */
    add(name: string, row: UsageRow, tagSet: TagSet): PendingUsage | undefined {
      if (byName.size >= maxRows) return undefined;
      const usage = { row, tagSet, latencies: new Map<number, number>(), isFolded: row.path === otherName };
      byName.set(name, usage);
      return usage;
    },
    addLatency({ latencies }: PendingUsage, bucket: number, hits: number): void {
      const known = latencies.get(bucket);
      if (known === undefined && buckets >= maxBuckets) return;
      if (known === undefined) buckets++;
      latencies.set(bucket, (known ?? 0) + hits);
    },
    drain(): DrainedUsage {
      const drained = [...byName]
        .map(([name, { row, tagSet, latencies }]) => ({ row: { ...row, id: digestRowName(name) }, tagSet, latencies }))
        .sort((a, b) => a.row.minute - b.row.minute || (a.row.id < b.row.id ? -1 : 1));
      byName = new Map();
      buckets = 0;
      return {
        rows: drained.map(({ row }) => row),
        latencies: drained.flatMap(toLatencyRows),
        tags: listTagRows(drained),
      };
    },
  };
}

/** Rows of the sets of some usage, each once, sorted; of the latest day. */
function listTagRows(usages: readonly Pick<PendingUsage, 'row' | 'tagSet'>[]): UsageTagRow[] {
  // Rows are sorted by minute: the last one of a set wins.
  const lastById = new Map(usages.map(({ row, tagSet }) => [tagSet.id, { tagSet, minute: row.minute }]));
  return [...lastById]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, { tagSet, minute }]) => toTagRows(tagSet, minute));
}

const toLatencyRows = ({
  row: { minute, id, expires_at },
  latencies,
}: Pick<PendingUsage, 'row' | 'latencies'>): LatencyRow[] =>
  [...latencies].sort(([a], [b]) => a - b).map(([bucket, hits]) => ({ minute, id, bucket, hits, expires_at }));

/** Methods of RFC 9110 and RFC 5789; a client could send any other. */
const countedMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

function createDimensionReader(normalisePaths: boolean) {
  const toAgentName = createAgentNames();
  return (record: CallRecord, tagSet: TagSet): Dimensions => {
    const at = record.number('atMs');
    const path = record.word('path');
    const method = record.word('method');
    return {
      minute: at - (at % minuteMs),
      org_id: record.api.orgId,
      api_id: record.api.id,
      version: record.word('version'),
      key_hash: record.word('keyHash'),
      oauth_id: record.word('oauthId'),
      path: normalisePaths ? normalisePath(path) : path,
      method: countedMethods.has(method) ? method : otherName,
      country: record.word('country'),
      user_agent: toAgentName(record.word('userAgent')),
      status: record.number('status'),
      refusal: record.word('refusal'),
      mcp_method: record.word('mcpMethod'),
      mcp_primitive_type: record.word('mcpPrimitiveType'),
      mcp_primitive_name: record.word('mcpPrimitiveName'),
      tag_set: tagSet.id,
    };
  };
}

/**
 * Cardinality limit: folds path, country, agent and primitive, then key, client, methods and tags, into `other` once an API has
 * too many rows.
 */
function createCardinalityLimit(rowsPerMinute: number) {
  /** Row names by API and minute, written or not. */
  const namesByApiMinute = new Map<string, { readonly minute: number; readonly names: Set<string> }>();

  function limit(own: Dimensions): Dimensions {
    const key = `${own.minute}/${own.api_id}`;
    let entry = namesByApiMinute.get(key);
    if (!entry) {
      entry = { minute: own.minute, names: new Set() };
      namesByApiMinute.set(key, entry);
    }
    const { names } = entry;
    const mcp_primitive_name = own.mcp_primitive_name && otherName;
    const withoutPath = { ...own, path: otherName, country: otherName, user_agent: otherName, mcp_primitive_name };
    const mcp_method = own.mcp_method && otherName;
    const tag_set = own.tag_set && createOtherTags(own.org_id).id;
    const withoutCaller = { ...withoutPath, key_hash: otherName, oauth_id: '', method: otherName, mcp_method, tag_set };
    const choices: [Dimensions, number][] = [
      [own, rowsPerMinute],
      [withoutPath, 2 * rowsPerMinute],
      [withoutCaller, Number.POSITIVE_INFINITY],
    ];
    const [chosen] = choices.find(([it, maxNames]) => names.has(rowNameOf(it)) || names.size < maxNames)!;
    names.add(rowNameOf(chosen));
    return chosen;
  }

  return {
    /** The dimensions themselves, or folded ones. */
    limit,
    deleteBefore(oldest: number): void {
      for (const [place, { minute }] of namesByApiMinute) if (minute < oldest) namesByApiMinute.delete(place);
    },
  };
}
