import type { Clock } from '#base/clock.ts';
import { every } from '#base/repeat.ts';
import type { NodeStore, SystemNode } from './node-store.ts';
import { type StatisticsSample, type StatisticsStore, sampleIntervalMs, toFirstDay } from './statistics-store.ts';

export interface HeartbeatOptions {
  readonly nodes: NodeStore;
  readonly statistics: StatisticsStore;
  readonly clock: Clock;
  /** State of this process. */
  readonly describeNode: () => SystemNode;
  /** Receives a failed write; the next heartbeat comes at its time. */
  readonly onError: (error: Error) => void;
}

const heartbeatIntervalMs = 20_000;
/** Delay of the heartbeat after a change of the served revision: bounds the writes of a process that loads many. */
const revisionReportDelayMs = 50;

/** Heartbeats of this process, and samples for the daily statistics; `close` removes the row of the process. */
export function startHeartbeat({ nodes, statistics, clock, describeNode, onError }: HeartbeatOptions) {
  let sampledAtMs = Number.NEGATIVE_INFINITY;
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  let reportedRevision: number | undefined;
  let reportTimer: NodeJS.Timeout | undefined;

  async function sample(): Promise<void> {
    const now = clock.now();
    await statistics.sampleApis(now);
    const { gateways, dataPlanes } = countGateways(await nodes.list(now));
    await statistics.sample('dataplanes.gateways', gateways, now);
    await statistics.sample('dataplanes', dataPlanes, now);
    await statistics.prune(toFirstDay(now));
  }

  async function beat(): Promise<void> {
    const node = describeNode();
    // Also where the write fails: the next heartbeat repeats it, and an outage is not logged with every load.
    reportedRevision = node.traffic?.revision;
    await nodes.put(node);
    if (clock.now() - prunedAtMs >= heartbeatIntervalMs) {
      await nodes.removeStale(clock.now());
      prunedAtMs = clock.now();
    }
    if (clock.now() - sampledAtMs < sampleIntervalMs) return;
    await sample();
    sampledAtMs = clock.now();
  }

  const loop = every(heartbeatIntervalMs, beat, { onError, runsAtStart: true, unref: true });

  function report(): void {
    reportTimer = undefined;
    void loop.wake();
  }

  return {
    wake: loop.wake,
    /** Writes the row soon where the served revision is not the reported one: other processes wait for it. */
    reportRevision(): void {
      if (reportTimer || describeNode().traffic?.revision === reportedRevision) return;
      reportTimer = setTimeout(report, revisionReportDelayMs).unref();
    },
    async close(): Promise<void> {
      clearTimeout(reportTimer);
      await loop.close();
      await nodes.remove(describeNode()).catch(onError);
    },
  };
}

/** Gateways, and data planes: gateways with the same segments, which serve the same APIs. Those with threads are active. */
export function countGateways(nodes: readonly SystemNode[]): Record<'gateways' | 'dataPlanes', StatisticsSample> {
  const gateways = nodes.filter(({ traffic }) => traffic !== undefined);
  const active = gateways.filter(({ traffic }) => traffic!.running > 0);
  const countPlanes = (among: readonly SystemNode[]) =>
    new Set(among.map(({ segments }) => JSON.stringify([...segments].sort()))).size;
  return {
    gateways: { count: gateways.length, active: active.length },
    dataPlanes: { count: countPlanes(gateways), active: countPlanes(active) },
  };
}
