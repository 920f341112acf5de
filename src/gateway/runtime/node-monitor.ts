import { createThreadSampler } from '#analytics/event-loop-lag.ts';
import type { NodeLoad } from '#apis/system/node-store.ts';
import { createStoreProbe, type StoreProbeOptions } from '#apis/system/store-probe.ts';
import type { Log } from '#base/log.ts';
import { every } from '#base/repeat.ts';
import { mergeKeySetReports } from '../auth/key-set-report.ts';
import { mergeCertificateReports } from '../routing/certificate-report.ts';
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
const reportIntervalMs = 2000;
const reportTimeoutMs = 2000;

/** Describes this process, its load and its stores, for its heartbeat and the list of nodes. */
export function startNodeMonitor({ log, dataPlane, ...options }: NodeMonitorOptions) {
  const window = createLoadWindow();
  const sampleMainThread = createThreadSampler(sampleIntervalMs, 1);
  const probe = createStoreProbe(options);
  let reports: Pick<NodeLoad, 'keySets' | 'certificates'> = {};
  let probed: Pick<NodeLoad, 'stores' | 'clockSkewMs'> = { stores: [] };

  function sample(): void {
    const { requests, lagSeconds } = dataPlane.load() ?? { requests: 0, lagSeconds: 0 };
    const delayMs = 1000 * Math.max(lagSeconds, sampleMainThread()!.lagSeconds);
    window.add({ atMs: performance.now(), requests, delayMs });
  }

  async function readReports(): Promise<void> {
    if (!dataPlane.state()?.running) return;
    const [keySets, certificates] = await Promise.all([
      dataPlane.broadcast('listKeySets', {}, reportTimeoutMs),
      dataPlane.broadcast('listCertificates', {}, reportTimeoutMs),
    ]);
    reports = {
      keySets: mergeKeySetReports(keySets.flat()),
      certificates: mergeCertificateReports(certificates.flat()),
    };
  }

  async function probeStores(): Promise<void> {
    probed = await probe();
  }

  const onError = (error: Error) => log.error({ err: error }, 'node monitor failed, retrying');
  function onReportError(error: Error): void {
    // A thread that ends or is busy: an old list would pass for the present one.
    reports = {};
    log.debug({ reason: error.message }, 'key sets and certificates not read, retrying');
  }
  const sampling = every(sampleIntervalMs, sample, { onError, unref: true });
  const reading = every(reportIntervalMs, readReports, { onError: onReportError, unref: true });
  const probing = every(probeIntervalMs, probeStores, { onError, runsAtStart: true, unref: true });

  return {
    describeNode: createNodeDescription({
      ...options,
      traffic: dataPlane.state,
      readLoad() {
        const { recordsDropped, recordsWaiting } = dataPlane.load() ?? {};
        return { ...window.read(), recordsDropped, recordsWaiting, ...reports, ...probed };
      },
    }),
    async close(): Promise<void> {
      await sampling.close();
      await reading.close();
      await probing.close();
    },
  };
}
