import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { encodeMetrics } from '#base/otlp/encode-metrics.ts';
import { createOtlpExporter } from '#base/otlp/exporter.ts';
import { createFrame, describeSource, metricSignal, toSignalUrl } from '#base/otlp/resource.ts';
import { every } from '#base/repeat.ts';
import type { Settings } from '#base/settings.ts';
import { pointFamilies } from './exports.ts';
import type { MetricFamily } from './exposition.ts';
import { createMetricConverter } from './otlp-metrics.ts';
import { listProcessMetrics, type ProcessMetricsOptions } from './process-metrics.ts';

export interface MetricsExportOptions extends ProcessMetricsOptions {
  readonly settings: Settings;
  readonly outbound: Pick<OutboundClient, 'fetch'>;
  readonly log: Log;
  readonly clock: Clock;
  /** Id of this process. */
  readonly nodeId: string;
}

export interface MetricsExport {
  /** All families of the process, with those of the export itself. */
  listFamilies(): Promise<readonly MetricFamily[]>;
  /** Exports the last values, within a deadline. */
  close(): Promise<void>;
}

/** Bound of encoded metrics that wait for the collector. */
const maxQueueBytes = 16_777_216;

/** Pushes all metrics to a collector on an interval; does nothing without one. */
export function startMetricsExport(options: MetricsExportOptions): MetricsExport {
  const { settings, outbound, log, clock, version, nodeId } = options;
  const endpoint = settings['metrics.otlp.endpoint'];
  if (endpoint === '') return { listFamilies: () => listProcessMetrics(options), close: async () => undefined };
  const protocol = settings['metrics.otlp.protocol'];
  const source = describeSource({ serviceName: settings['tracing.service_name'], version, instanceId: nodeId });
  const convert = createMetricConverter(settings['metrics.otlp.temporality'], clock.now());
  const exporter = createOtlpExporter({
    signal: 'metrics',
    endpoint: toSignalUrl(endpoint, '/v1/metrics'),
    protocol,
    compresses: settings['metrics.otlp.gzip'],
    headers: settings['metrics.otlp.headers'],
    timeoutMs: settings['metrics.otlp.timeout_ms'],
    maxQueueBytes,
    frame: createFrame(protocol, metricSignal, source),
    outbound,
    log,
  });

  const listFamilies = async () => [...(await listProcessMetrics(options)), ...pointFamilies(exporter.totals())];

  async function push(): Promise<void> {
    const metrics = convert(await listFamilies(), clock.now());
    const count = metrics.reduce((sum, { points }) => sum + points.length, 0);
    exporter.add(encodeMetrics(protocol, metrics), count);
  }

  const onError = (error: Error) => log.warn({ reason: error.message }, 'metrics not exported');
  const pushes = every(settings['metrics.otlp.interval_seconds'] * 1000, push, { onError, unref: true });
  return {
    listFamilies,
    async close() {
      await pushes.close();
      await push().catch(onError);
      await exporter.close();
    },
  };
}
