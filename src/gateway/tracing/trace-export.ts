import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { createSpanEncoder } from '#base/otlp/encode-spans.ts';
import { createOtlpExporter, type ExportTotals } from '#base/otlp/exporter.ts';
import { createFrame, describeSource, toSignalUrl, traceSignal } from '#base/otlp/resource.ts';
import type { OtlpSpan } from '#base/otlp/span.ts';
import type { Settings } from '#base/settings.ts';
import type { SpanReport } from './request-tracer.ts';

export interface TraceExportOptions {
  readonly settings: Settings;
  readonly outbound: Pick<OutboundClient, 'fetch'>;
  readonly log: Log;
  readonly version: string;
  /** Id of this process. */
  readonly nodeId: string;
}

/** Totals of spans since the start. */
export interface SpanTotals extends ExportTotals {
  /** Spans dropped in a traffic thread because the main thread was behind. */
  readonly droppedInThreads: number;
}

/** Export of the spans of all threads; one per process. */
export interface TraceExport {
  receive(spans: SpanReport): void;
  /** A span of the main thread. */
  add(span: OtlpSpan): void;
  totals(): SpanTotals;
  /** Sends what is queued, within a deadline. */
  close(): Promise<void>;
}

/** Undefined without a collector. */
export function createTraceExport({
  settings,
  outbound,
  log,
  version,
  nodeId,
}: TraceExportOptions): TraceExport | undefined {
  if (settings['tracing.endpoint'] === '') return undefined;
  const protocol = settings['tracing.protocol'];
  const source = describeSource({ serviceName: settings['tracing.service_name'], version, instanceId: nodeId });
  const exporter = createOtlpExporter({
    signal: 'traces',
    endpoint: toSignalUrl(settings['tracing.endpoint'], '/v1/traces'),
    protocol,
    compresses: settings['tracing.gzip'],
    headers: settings['tracing.headers'],
    timeoutMs: settings['tracing.timeout_ms'],
    maxQueueBytes: settings['tracing.max_queue_bytes'],
    frame: createFrame(protocol, traceSignal, source),
    outbound,
    log,
  });
  const encoder = createSpanEncoder(protocol);
  let droppedInThreads = 0;
  return {
    receive({ bytes, count, dropped }) {
      droppedInThreads += dropped;
      exporter.add(bytes, count);
    },
    add(span) {
      encoder.add(span);
      const { bytes, count } = encoder.drain();
      exporter.add(bytes, count);
    },
    totals: () => ({ ...exporter.totals(), droppedInThreads }),
    close: () => exporter.close(),
  };
}
