import { createLog } from '#base/log.ts';
import { createFrame, describeSource, traceSignal } from '#base/otlp/resource.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import { noBody } from '../../src/gateway/http/body.ts';
import { HeaderList } from '../../src/gateway/http/headers.ts';
import { Exchange } from '../../src/gateway/pipeline/exchange.ts';
import type { Api } from '../../src/gateway/routing/api.ts';
import type { SpanReport } from '../../src/gateway/tracing/request-tracer.ts';
import { createTracer } from '../../src/gateway/tracing/tracer.ts';
import { decodeMessage, listSpans } from './otlp.ts';

/** Collector frame of reported spans. */
export const parentTraceId = '0af7651916cd43dd8448eb211c80319c';
export const parentSpanId = 'b7ad6b7169203331';
const frame = createFrame('protobuf', traceSignal, describeSource({ serviceName: 's', version: 'v', instanceId: 'i' }));

export function openTracer(settings: Partial<Record<SettingName, string>> = {}) {
  const reports: SpanReport[] = [];
  const tracer = createTracer({
    settings: readSettings({
      flags: { 'tracing.endpoint': 'http://127.0.0.1:1', 'tracing.interval_ms': '60000', ...settings },
    }),
    log: createLog({ level: 'error', format: 'json' }),
    redact: text => text.replaceAll('hidden', '********'),
    listCredentialParameters: () => ['custom'],
    port: { postMessage: report => reports.push(report) },
  })!;
  /** Ends the tracer; returns the spans that it reported. */
  function readSpans() {
    tracer.close();
    return reports.flatMap(({ bytes }) => listSpans(decodeMessage('ExportTraceServiceRequest', frame([bytes]))));
  }
  return { tracer, reports, readSpans };
}

export function createTracedCall(
  headers: string[] = [],
  more: Partial<Exchange> & { isTrusted?: boolean } = {},
): Exchange {
  const { isTrusted = false, ...rest } = more;
  const call = new Exchange({
    method: rest.method ?? 'GET',
    target: '/orders/1?token=canary',
    path: '/orders/1',
    query: 'token=canary',
    host: 'localhost',
    headers: new HeaderList(headers),
    body: noBody(),
    peer: { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined, isTrusted },
    clientAddress: '10.0.0.7',
    receivedAtMs: Date.UTC(2026, 1, 3, 12),
    startedAt: performance.now(),
  });
  const api = { id: 'orders', orgId: 'org', name: 'Orders', listenPath: '/orders/' } as Api;
  return Object.assign(call, { api, listenPath: '/orders/', status: 200 }, rest);
}

/** Runs a request without an upstream; true when its trace was exported. */
export function isExported(settings: Partial<Record<SettingName, string>>, call: Exchange): boolean {
  const { tracer, readSpans } = openTracer(settings);
  tracer.begin(call);
  tracer.finish(call, true);
  return readSpans().length > 0;
}

/** Trace headers that the upstream gets, and the trace id. */
export function propagate(settings: Partial<Record<SettingName, string>>, headers: string[], isTrusted = false) {
  const call = createTracedCall(headers, { isTrusted });
  const { tracer } = openTracer(settings);
  tracer.begin(call);
  tracer.close();
  const sent = Object.fromEntries([...call.headers].map(([name, value]) => [name.toLowerCase(), value]));
  return { traceId: call.traceId, sent };
}
