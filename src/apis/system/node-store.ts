import { compareCodePoints } from '#base/compare-code-points.ts';
import type { Records } from '#storage/records.ts';

/** Threads and configuration of a process that serves traffic. */
export interface NodeTraffic {
  /** Configured traffic threads. */
  readonly threads: number;
  readonly running: number;
  readonly restarts: number;
  /** Oldest revision that a thread serves; 0 for the config backup. */
  readonly revision: number;
  /** 0 before the first load. */
  readonly loadedAtMs: number;
}

/** Round trip from a process to its database or Redis. */
export interface StoreState {
  readonly name: 'database' | 'redis';
  /** Undefined where the store did not answer in time. */
  readonly latencyMs: number | undefined;
}

/** A JWKS that the traffic threads of a process hold, or could not fetch. */
export interface KeySetReport {
  readonly kind: 'url' | 'issuer';
  /** URL of the key set, or the issuer whose discovery document names it; without credentials and query. */
  readonly source: string;
  /** Usable keys, in the thread with the fewest. */
  readonly keys: number;
  /** 0 where it was never fetched. */
  readonly loadedAtMs: number;
  /** Reason of the last failed fetch; empty after a success. */
  readonly failure: string;
}

/** A certificate that the traffic threads of a process use, or could not load. */
export interface CertificateReport {
  readonly kind: 'store' | 'file';
  /** Id in the certificate store, or path of a file. */
  readonly source: string;
  /** Common name of the subject; empty where it is unknown. */
  readonly subject: string;
  /** 0 where it is unknown, and for a public key. */
  readonly notAfterMs: number;
  /** Active APIs that name it; 0 for a file. */
  readonly apis: number;
  /** Reason why it, or a later version of the file, is not in use; empty where it is. */
  readonly failure: string;
}

/** Load of a process in the last minute, and the stores as it reaches them. */
export interface NodeLoad {
  readonly requestsPerSecond: number;
  /** Highest event loop delay of its threads, the main thread included. */
  readonly eventLoopDelayMs: number;
  /** Requests that analytics lost since the start; undefined in a process without traffic, and in earlier releases. */
  readonly recordsDropped?: number | undefined;
  /** Counts and logged requests that wait for their next write to the database; undefined as `recordsDropped`. */
  readonly recordsWaiting?: number | undefined;
  /** Bounded; undefined in a process without traffic, and in earlier releases. */
  readonly keySets?: readonly KeySetReport[] | undefined;
  /** As `keySets`. */
  readonly certificates?: readonly CertificateReport[] | undefined;
  readonly stores: readonly StoreState[];
  /** Clock of the process minus that of the database; undefined before the first answer. */
  readonly clockSkewMs?: number | undefined;
}

/** A process of the installation, as its last heartbeat describes it. */
export interface SystemNode {
  readonly id: string;
  readonly hostname: string;
  readonly startedAtMs: number;
  readonly heartbeatAtMs: number;
  readonly pid: number;
  readonly role: string;
  readonly version: string;
  readonly nodeVersion: string;
  readonly residentBytes: number;
  /** Tags of `gateway.segments`. */
  readonly segments: readonly string[];
  /** Undefined for a process without traffic threads. */
  readonly traffic?: NodeTraffic | undefined;
  /** Undefined in rows of earlier releases. */
  readonly load?: NodeLoad | undefined;
}

/** Bound of one read; processes of one installation are far fewer. */
const maxNodes = 1000;
/** A process without a heartbeat for this time is lost: it was killed, or cannot reach the database. */
export const maxHeartbeatAgeMs = 60_000;
/** The row of a lost process is removed after this time without a heartbeat. */
export const maxLostAgeMs = 3_600_000;

export const isLostNode = ({ heartbeatAtMs }: Pick<SystemNode, 'heartbeatAtMs'>, nowMs: number): boolean =>
  heartbeatAtMs < nowMs - maxHeartbeatAgeMs;

export type NodeStore = ReturnType<typeof createNodeStore>;

/** Heartbeats of the processes on a database: one row per process, deleted when it ends or is stale. */
export function createNodeStore(records: Records) {
  /** The newest heartbeats, by host name. */
  async function listSince(sinceMs: number): Promise<SystemNode[]> {
    const rows = await records.db
      .selectFrom('nodes')
      .selectAll()
      .where('heartbeat_at', '>=', sinceMs)
      .orderBy('heartbeat_at', 'desc')
      .limit(maxNodes)
      .execute();
    return rows.map(toNode).sort(compareNodes);
  }

  return {
    async put({ id, hostname, startedAtMs, heartbeatAtMs, ...rest }: SystemNode): Promise<void> {
      const row = { started_at: startedAtMs, heartbeat_at: heartbeatAtMs, body: JSON.stringify(rest) };
      await records.db
        .insertInto('nodes')
        .values({ id, hostname, ...row })
        .onConflict(conflict => conflict.columns(['id', 'hostname']).doUpdateSet(row))
        .execute();
    },
    async remove({ id, hostname }: Pick<SystemNode, 'id' | 'hostname'>): Promise<void> {
      await records.db.deleteFrom('nodes').where('id', '=', id).where('hostname', '=', hostname).execute();
    },
    async removeStale(nowMs: number): Promise<void> {
      await records.db
        .deleteFrom('nodes')
        .where('heartbeat_at', '<', nowMs - maxLostAgeMs)
        .execute();
    },
    /** Processes that run, by host name. */
    list: (nowMs: number): Promise<SystemNode[]> => listSince(nowMs - maxHeartbeatAgeMs),
    /** Processes that run and those that are lost, by host name. */
    listWithLost: (nowMs: number): Promise<SystemNode[]> => listSince(nowMs - maxLostAgeMs),
  };
}

/** Order of lists: by host name, then by id. */
export const compareNodes = (a: NodeName, b: NodeName): number =>
  compareCodePoints(a.hostname, b.hostname) || compareCodePoints(a.id, b.id);

type NodeName = Pick<SystemNode, 'id' | 'hostname'>;

interface NodeRow {
  readonly id: string;
  readonly hostname: string;
  readonly started_at: number;
  readonly heartbeat_at: number;
  readonly body: string;
}

const toNode = ({ id, hostname, started_at, heartbeat_at, body }: NodeRow): SystemNode => ({
  id,
  hostname,
  startedAtMs: Number(started_at),
  heartbeatAtMs: Number(heartbeat_at),
  ...(JSON.parse(body) as Omit<SystemNode, 'id' | 'hostname' | 'startedAtMs' | 'heartbeatAtMs'>),
});
