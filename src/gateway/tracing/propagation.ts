import { formatTraceparent } from '#base/otlp/trace-ids.ts';
import type { Settings } from '#base/settings.ts';
import type { HeaderList } from '../http/headers.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { findTraceHeaders, parseTraceParent, type TraceParent, traceHeaderNames } from './trace-parent.ts';

/** Trace context that the upstream gets: the span of the attempt, and the span of the gateway above it. */
export interface OutgoingContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly isSampled: boolean;
}

/** Propagation of trace context from the client to the upstream, as the settings have it. */
export interface TracePropagation {
  /** Trace of the client that the request continues. Undefined begins a new one: the headers of the client are removed. */
  readParent(call: Pick<Exchange, 'headers' | 'peer'>): TraceParent | undefined;
  /** Sets the headers for the upstream. `isNew`: the trace begins here, so that the request has none of them. */
  writeContext(headers: HeaderList, context: OutgoingContext, isNew: boolean): void;
  /** Replaces those headers in a flat list; one that a step removed is not added again. */
  replaceContext(flat: string[], context: OutgoingContext): void;
}

interface ContextHeader {
  readonly name: string;
  format(context: OutgoingContext): string;
}

const headersByFormat: Readonly<Record<'w3c' | 'b3' | 'b3multi', readonly ContextHeader[]>> = {
  w3c: [
    {
      name: 'traceparent',
      format: ({ traceId, spanId, isSampled }) => formatTraceparent(traceId, spanId, isSampled),
    },
  ],
  b3: [
    {
      name: 'b3',
      format: ({ traceId, spanId, isSampled, parentSpanId }) =>
        `${traceId}-${spanId}-${isSampled ? '1' : '0'}-${parentSpanId}`,
    },
  ],
  b3multi: [
    { name: 'X-B3-TraceId', format: ({ traceId }) => traceId },
    { name: 'X-B3-SpanId', format: ({ spanId }) => spanId },
    { name: 'X-B3-ParentSpanId', format: ({ parentSpanId }) => parentSpanId },
    { name: 'X-B3-Sampled', format: ({ isSampled }) => (isSampled ? '1' : '0') },
  ],
};

export function createTracePropagation(settings: Settings): TracePropagation {
  const trust = settings['tracing.trust'];
  const written = settings['tracing.propagation'].flatMap(it => headersByFormat[it]);
  return {
    readParent({ headers, peer }) {
      const received = findTraceHeaders(headers);
      if (received === undefined) return undefined;
      const isTrusted = trust === 'always' || (trust === 'trusted_proxies' && peer.isTrusted === true);
      const parent = isTrusted ? parseTraceParent(received) : undefined;
      if (parent === undefined) headers.removeAll(traceHeaderNames);
      // `tracestate` belongs to the trace it came with; an invalid one is not forwarded.
      else if (parent.traceState === '' && received.tracestate !== '') headers.remove('tracestate');
      return parent;
    },
    writeContext(headers, context, isNew) {
      for (const { name, format } of written) {
        // A name with a hyphen may be there in another spelling.
        if (isNew && !name.includes('-')) headers.flat.push(name, format(context));
        else headers.set(name, format(context));
      }
    },
    replaceContext(flat, context) {
      for (let i = 0; i < flat.length; i += 2) {
        const found = written.find(({ name }) => name === flat[i]);
        if (found) flat[i + 1] = found.format(context);
      }
    },
  };
}
