import type { LatencyRow, UsageRow } from '#storage/analytics-tables.ts';
import { createAgentNames } from './agent-name.ts';
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

export interface UsageRollUpOptions {
  /** Rows of one API and minute before paths are folded; twice as many before keys are. */
  readonly rowsPerMinute: number;
  readonly normalisePaths: boolean;
  /** Bound of unwritten rows. */
  readonly maxPendingRows?: number;
  /** Bound of unwritten buckets of latency histograms; requests beyond it count without latency. */
  readonly maxPendingBuckets?: number;
}

/** Rows of one write. */
export interface DrainedUsage {
  readonly rows: readonly UsageRow[];
  readonly latencies: readonly LatencyRow[];
}

/** An unwritten row, and its requests by bucket of the latency histogram. */
interface PendingUsage {
  readonly row: UsageRow;
  readonly latencies: Map<number, number>;
  /** Collects calls beyond the cardinality limit. */
  readonly isFolded: boolean;
}

const defaultMaxPendingRows = 50_000;
const defaultMaxPendingBuckets = 250_000;
/** Minutes whose row names are tracked, so that the bound holds across several writes of one minute. */
const trackedMinutes = 2;

/** Rolls up calls by minute within bounds. Holds only unwritten rows. */
export function createUsageRollUp({
  rowsPerMinute,
  normalisePaths,
  maxPendingRows = defaultMaxPendingRows,
  maxPendingBuckets = defaultMaxPendingBuckets,
}: UsageRollUpOptions) {
  const pending = createPendingUsage(maxPendingRows, maxPendingBuckets);
  const cardinality = createCardinalityLimit(rowsPerMinute);
  const findUsage = createUsageFinder(pending, cardinality, normalisePaths);
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
    /** Drains unwritten rows, sorted: a common lock order prevents deadlocks between processes. */
    drain(nowMs: number): DrainedUsage {
      groups.clear();
      cardinality.deleteBefore(nowMs - trackedMinutes * minuteMs);
      return pending.drain();
    },
    /** Restores rows after a failed write. */
    restore({ rows, latencies }: DrainedUsage): void {
      const restored = new Map<string, PendingUsage>();
      for (const row of rows) {
        const name = rowNameOf(row);
        const newer = pending.find(name);
        if (newer) mergeUsageRow(newer.row, row);
        const usage = newer ?? pending.add(name, row);
        if (usage) restored.set(row.id, usage);
        else totals.lost += row.hits;
      }
      for (const { id, bucket, hits } of latencies) {
        const usage = restored.get(id);
        if (usage) pending.addLatency(usage, bucket, hits);
      }
    },
  };
}

/** Finds or adds the unwritten row of a call; undefined where there is no room. */
function createUsageFinder(
  pending: ReturnType<typeof createPendingUsage>,
  cardinality: ReturnType<typeof createCardinalityLimit>,
  normalisePaths: boolean,
) {
  const readDimensions = createDimensionReader(normalisePaths);
  return (record: CallRecord): PendingUsage | undefined => {
    const own = readDimensions(record);
    const ownName = rowNameOf(own);
    const known = pending.find(ownName);
    if (known) return known;
    const dimensions = cardinality.limit(own);
    const name = dimensions === own ? ownName : rowNameOf(dimensions);
    const { retentionSeconds } = record.api;
    const expiresAt = retentionSeconds > 0 ? dimensions.minute + minuteMs + retentionSeconds * 1000 : 0;
    return pending.find(name) ?? pending.add(name, createUsageRow(dimensions, expiresAt));
  };
}

/** Unwritten rows by name, bounded. */
function createPendingUsage(maxRows: number, maxBuckets: number) {
  let byName = new Map<string, PendingUsage>();
  let buckets = 0;
  return {
    find: (name: string) => byName.get(name),
    /** Undefined where there is no room. */
    add(name: string, row: UsageRow): PendingUsage | undefined {
      if (byName.size >= maxRows) return undefined;
      const usage = { row, latencies: new Map<number, number>(), isFolded: row.path === otherName };
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
        .map(([name, { row, latencies }]) => ({ row: { ...row, id: digestRowName(name) }, latencies }))
        .sort((a, b) => a.row.minute - b.row.minute || (a.row.id < b.row.id ? -1 : 1));
      byName = new Map();
      buckets = 0;
      return { rows: drained.map(({ row }) => row), latencies: drained.flatMap(toLatencyRows) };
    },
  };
}

const toLatencyRows = ({ row: { minute, id, expires_at }, latencies }: Omit<PendingUsage, 'isFolded'>): LatencyRow[] =>
  [...latencies].sort(([a], [b]) => a - b).map(([bucket, hits]) => ({ minute, id, bucket, hits, expires_at }));

/** Methods of RFC 9110 and RFC 5789; a client could send any other. */
const countedMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

function createDimensionReader(normalisePaths: boolean) {
  const toAgentName = createAgentNames();
  return (record: CallRecord): Dimensions => {
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
    };
  };
}

/**
 * Cardinality limit: folds path, country, agent and primitive, then key, client and methods, into `other` once an API has
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
    const withoutCaller = { ...withoutPath, key_hash: otherName, oauth_id: '', method: otherName, mcp_method };
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
