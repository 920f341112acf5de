import type { Exchange } from '../pipeline/exchange.ts';
import type { RequestHandler } from '../pipeline/response-writer.ts';

/** Spans of a thread, encoded, on their way to the main thread, which exports them. */
export interface SpanReport {
  readonly kind: 'spans';
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
  /** Spans dropped since the last report because the main thread was behind. */
  readonly dropped: number;
}

/** Tracer of a traffic thread. Never waits and never fails a request: spans beyond the bounds are dropped and counted. */
export interface RequestTracer {
  /** Starts the trace of a request: continues that of the client or begins one, and sets the headers for the upstream. */
  begin(call: Exchange): void;
  /** End of the exchange: decides on the export and encodes the spans. */
  finish(call: Exchange, isComplete: boolean): void;
  /** The main thread has received a report. */
  onReportAccepted(): void;
  /** Posts the rest. */
  close(): void;
}

/** Tag by which the record of a request is found from its trace. */
export function tagRecord(call: Exchange, trace: { isTagged: boolean }): void {
  if (trace.isTagged) return;
  trace.isTagged = true;
  call.tags ??= [];
  call.tags.push(`trace-id-${call.traceId}`);
}

/** Request tracing: starts a trace for every request, also one without a route. */
export const withTracing = (tracer: RequestTracer | undefined, next: RequestHandler): RequestHandler =>
  tracer === undefined
    ? next
    : {
        handle(call, writer) {
          tracer.begin(call);
          next.handle(call, writer);
        },
      };

/** Ends the trace before the exchange is recorded: the record has the id of an exported trace as a tag. */
export const finishTraceFirst = (
  tracer: RequestTracer | undefined,
  record: RequestTracer['finish'],
): RequestTracer['finish'] =>
  tracer === undefined
    ? record
    : (call, isComplete) => {
        tracer.finish(call, isComplete);
        record(call, isComplete);
      };
