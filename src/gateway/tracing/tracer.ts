import type { Log } from '#base/log.ts';
import { createSpanEncoder } from '#base/otlp/encode-spans.ts';
import { createRandomHex } from '#base/otlp/trace-ids.ts';
import { every } from '#base/repeat.ts';
import type { Settings } from '#base/settings.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { readFinalRefusal, readFinalStatus } from '../pipeline/outcome.ts';
import type { RequestHandler } from '../pipeline/response-writer.ts';
import { ActiveTrace } from './active-trace.ts';
import { createTracePropagation } from './propagation.ts';
import { type SpanOptions, writeRequestSpans } from './request-spans.ts';
import { createSampler, type ParentDecision } from './sampler.ts';

/** Spans of a thread, encoded, on their way to the main thread, which exports them. */
export interface SpanReport {
  readonly kind: 'spans';
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
  /** Spans dropped since the last report because the main thread was behind. */
  readonly dropped: number;
}

export interface TracerOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly redact: SpanOptions['redact'];
  readonly listCredentialParameters: SpanOptions['listCredentialParameters'];
  /** To the main thread; the buffer of a report is transferred. */
  readonly port: { postMessage(report: SpanReport, transfer: ArrayBuffer[]): void };
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

/** Size of one report. */
const maxReportBytes = 262_144;
/** Backpressure: reports posted and not acknowledged. */
const maxUnacceptedReports = 4;

/** Undefined without a collector: tracing then costs nothing. */
export function createTracer(options: TracerOptions): RequestTracer | undefined {
  const { settings, log, port, redact, listCredentialParameters } = options;
  if (settings['tracing.endpoint'] === '') return undefined;
  const context = { propagation: createTracePropagation(settings), sampler: createSampler(settings) };
  const encoder = createSpanEncoder(settings['tracing.protocol']);
  const spanOptions = { recordsQuery: settings['tracing.record_query'], redact, listCredentialParameters };
  let unaccepted = 0;
  let dropped = 0;

  function report(isLast: boolean): void {
    if ((encoder.count === 0 && dropped === 0) || (unaccepted >= maxUnacceptedReports && !isLast)) return;
    unaccepted++;
    const batch = encoder.drain();
    port.postMessage({ kind: 'spans', ...batch, dropped }, [batch.bytes.buffer]);
    dropped = 0;
  }

  const reports = every(settings['tracing.interval_ms'], () => report(false), {
    onError: error => log.error({ err: error }, 'spans not reported'),
  });

  return {
    begin(call) {
      const trace = startTrace(context, call);
      call.trace = trace;
      call.traceId = trace.traceId;
    },
    finish(call, isComplete) {
      const trace = call.trace as ActiveTrace | undefined;
      if (trace === undefined || (!trace.isSampled && !context.sampler.hasTailRules)) return;
      const endedAt = performance.now();
      const status = readFinalStatus(call);
      const end = { path: call.path, apiId: call.api?.id ?? '', status, durationMs: endedAt - call.startedAt };
      if (!trace.isSampled && !context.sampler.sampleEnd(trace.samplingId, end)) return;
      if (encoder.size >= maxReportBytes) report(false);
      if (encoder.size >= maxReportBytes) {
        dropped += countSpans(trace);
        return;
      }
      writeRequestSpans(encoder, spanOptions, call, trace, {
        endedAt,
        status,
        refusal: readFinalRefusal(call, isComplete),
      });
      tagRecord(call, trace);
    },
    onReportAccepted() {
      unaccepted--;
    },
    close() {
      reports.stop();
      report(true);
    },
  };
}

const noDecision: ParentDecision = { isSampled: undefined, isTrusted: true };

/**
 * One text of random digits holds the ids of a new trace, of the gateway's span and of the first attempt. Sampling of an
 * untrusted client's trace uses the random trace id that the gateway would have given it: a trace id chosen by the client
 * would force the export of every request, and its flag 00 would keep requests out.
 */
function startTrace(context: ConstructorParameters<typeof ActiveTrace>[0], call: Exchange): ActiveTrace {
  const parent = context.propagation.readParent(call);
  const random = createRandomHex(32);
  const isTrusted = parent === undefined || call.peer.isTrusted === true;
  const traceId = parent?.traceId ?? random.slice(32);
  const samplingId = isTrusted ? traceId : random.slice(32);
  const ids = { traceId, samplingId, spanId: random.slice(0, 16), attemptSpanId: random.slice(16, 32) };
  const decision =
    parent === undefined
      ? noDecision
      : { isSampled: isTrusted ? parent.isSampled : parent.isSampled || undefined, isTrusted };
  const isSampled = context.sampler.sampleStart(samplingId, call.path, decision, call.startedAt);
  const trace = new ActiveTrace(context, ids, parent, isSampled);
  context.propagation.writeContext(call.headers, trace.toOutgoing(), parent === undefined);
  return trace;
}

/** Tag by which the record of a request is found from its trace. */
export function tagRecord(call: Exchange, trace: { isTagged: boolean }): void {
  if (trace.isTagged) return;
  trace.isTagged = true;
  call.tags ??= [];
  call.tags.push(`trace-id-${call.traceId}`);
}

const countSpans = ({ steps, failedAttempts, attemptCount }: ActiveTrace): number =>
  1 + (steps?.length ?? 0) + (failedAttempts?.length ?? 0) + (attemptCount > 0 ? 1 : 0);

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
