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
