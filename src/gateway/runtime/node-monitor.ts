import { createThreadSampler } from '#analytics/event-loop-lag.ts';
import type { KeySetReport, NodeLoad } from '#apis/system/node-store.ts';
import { createStoreProbe, type StoreProbeOptions } from '#apis/system/store-probe.ts';
import type { Log } from '#base/log.ts';
import { every } from '#base/repeat.ts';
import { mergeKeySetReports } from '../auth/key-set-report.ts';
import type { DataPlane } from './data-plane.ts';
import { createLoadWindow } from './load-window.ts';
import { createNodeDescription, type NodeDescriptionOptions } from './node-description.ts';

export interface NodeMonitorOptions
  extends StoreProbeOptions,
    Pick<NodeDescriptionOptions, 'id' | 'settings' | 'version'> {
  readonly log: Log;
  readonly dataPlane: Pick<DataPlane, 'state' | 'load' | 'broadcast'>;
}

const sampleIntervalMs = 1000;
const probeIntervalMs = 10_000;
const keySetIntervalMs = 2000;
const keySetTimeoutMs = 2000;

/** Describes this process, its load and its stores, for its heartbeat and the list of nodes. */
export function startNodeMonitor({ log, dataPlane, ...options }: NodeMonitorOptions) {
  const window = createLoadWindow();
  const sampleMainThread = createThreadSampler(sampleIntervalMs, 1);
  const probe = createStoreProbe(options);
  let keySets: readonly KeySetReport[] | undefined;
  let probed: Pick<NodeLoad, 'stores' | 'clockSkewMs'> = { stores: [] };

  function sample(): void {
    const { requests, lagSeconds } = dataPlane.load() ?? { requests: 0, lagSeconds: 0 };
    const delayMs = 1000 * Math.max(lagSeconds, sampleMainThread()!.lagSeconds);
    window.add({ atMs: performance.now(), requests, delayMs });
  }

  async function readKeySets(): Promise<void> {
    if (!dataPlane.state()?.running) return;
    const reports = await dataPlane.broadcast('listKeySets', {}, keySetTimeoutMs);
    keySets = mergeKeySetReports(reports.flat());
  }

  async function probeStores(): Promise<void> {
    probed = await probe();
  }

  const onError = (error: Error) => log.error({ err: error }, 'node monitor failed, retrying');
  function onKeySetError(error: Error): void {
    // A thread that ends or is busy: an old list would pass for the present one.
    keySets = undefined;
    log.debug({ reason: error.message }, 'key sets not read, retrying');
  }
  const sampling = every(sampleIntervalMs, sample, { onError, unref: true });
  const watchingKeySets = every(keySetIntervalMs, readKeySets, { onError: onKeySetError, unref: true });
  const probing = every(probeIntervalMs, probeStores, { onError, runsAtStart: true, unref: true });

  return {
    describeNode: createNodeDescription({
      ...options,
      traffic: dataPlane.state,
      readLoad() {
        const { recordsDropped, recordsWaiting } = dataPlane.load() ?? {};
        return { ...window.read(), recordsDropped, recordsWaiting, keySets, ...probed };
      },
    }),
    async close(): Promise<void> {
      await sampling.close();
      await watchingKeySets.close();
      await probing.close();
    },
  };
}
