import type { Log } from '#base/log.ts';
import { createSpanEncoder } from '#base/otlp/encode-spans.ts';
import { createRandomHex } from '#base/otlp/trace-ids.ts';
import { every } from '#base/repeat.ts';
import type { Settings } from '#base/settings.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { readFinalRefusal, readFinalStatus } from '../pipeline/outcome.ts';
import { ActiveTrace } from './active-trace.ts';
import { createTracePropagation } from './propagation.ts';
import { type SpanOptions, writeRequestSpans } from './request-spans.ts';
import { type RequestTracer, type SpanReport, tagRecord } from './request-tracer.ts';
import { createSampler, type ParentDecision } from './sampler.ts';

export interface TracerOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly redact: SpanOptions['redact'];
  readonly listCredentialParameters: SpanOptions['listCredentialParameters'];
  /** To the main thread; the buffer of a report is transferred. */
  readonly port: { postMessage(report: SpanReport, transfer: ArrayBuffer[]): void };
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

const countSpans = ({ steps, failedAttempts, attemptCount }: ActiveTrace): number =>
  1 + (steps?.length ?? 0) + (failedAttempts?.length ?? 0) + (attemptCount > 0 ? 1 : 0);
