import { type OtlpSpan, type SpanLink, spanKinds } from '#base/otlp/span.ts';
import { createSpanId, createTraceId } from '#base/otlp/trace-ids.ts';
import type { Attempt, Delivery } from './schema.ts';

/** Ids of the span of one attempt: a trace of its own, since it is sent long after its cause has ended. */
export interface AttemptTrace {
  readonly traceId: string;
  readonly spanId: string;
  readonly cause: SpanLink;
}

/** Undefined for a delivery that no sampled trace caused. */
export const startAttemptTrace = ({ cause }: Pick<Delivery, 'cause'>): AttemptTrace | undefined =>
  cause && { traceId: createTraceId(), spanId: createSpanId(), cause };

/** Span of one attempt, linked to the request that caused the event. The URL is left out: its path may be a secret. */
export function buildDeliverySpan(
  trace: AttemptTrace,
  delivery: Delivery,
  { method, url }: { readonly method: string; readonly url: string },
  { atMs, ms, status, error }: Attempt,
): OtlpSpan {
  const target = URL.parse(url);
  const isError = error !== '';
  return {
    traceId: trace.traceId,
    spanId: trace.spanId,
    parentSpanId: '',
    isParentRemote: false,
    traceState: '',
    isSampled: true,
    name: `webhook ${delivery.event}`,
    kind: spanKinds.client,
    startMs: atMs,
    endMs: atMs + ms,
    attributes: [
      ...['http.request.method', method, 'server.address', target?.hostname ?? ''],
      ...['gw.event', delivery.event, 'gw.webhook.id', delivery.hook, 'gw.delivery.id', delivery.publicId],
      ...['gw.api.id', delivery.apiId, 'gw.org.id', delivery.orgId],
      ...(status === 0 ? [] : ['http.response.status_code', status]),
      ...(delivery.attempts === 0 ? [] : ['http.request.resend_count', delivery.attempts]),
      ...(isError ? ['error.type', status === 0 ? 'unreachable' : String(status)] : []),
    ],
    isError,
    link: trace.cause,
  };
}
