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

/** Heartbeats of this process, and samples for the daily statistics; `close` removes the row of the process. */
export function startHeartbeat({ nodes, statistics, clock, describeNode, onError }: HeartbeatOptions) {
  let sampledAtMs = Number.NEGATIVE_INFINITY;

  async function sample(): Promise<void> {
    const now = clock.now();
    await statistics.sampleApis(now);
    const { gateways, dataPlanes } = countGateways(await nodes.list(now));
    await statistics.sample('dataplanes.gateways', gateways, now);
    await statistics.sample('dataplanes', dataPlanes, now);
    await statistics.prune(toFirstDay(now));
  }

  async function beat(): Promise<void> {
    await nodes.put(describeNode());
    await nodes.removeStale(clock.now());
    if (clock.now() - sampledAtMs < sampleIntervalMs) return;
    await sample();
    sampledAtMs = clock.now();
  }

  const loop = every(heartbeatIntervalMs, beat, { onError, runsAtStart: true, unref: true });
  return {
    wake: loop.wake,
    async close(): Promise<void> {
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
