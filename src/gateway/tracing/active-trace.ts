import { createSpanId } from '#base/otlp/trace-ids.ts';
import type { RequestTrace, TracedExchange, UpstreamAttempt } from '../pipeline/request-trace.ts';
import type { TracePropagation } from './propagation.ts';
import type { Sampler } from './sampler.ts';
import type { TraceParent } from './trace-parent.ts';

/** An attempt that failed and was retried; the last attempt is in the trace itself. */
export interface FailedAttempt {
  spanId: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly reason: string;
}

export interface StepTime {
  readonly name: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Bound of the step spans of one trace. */
const maxSteps = 100;

/** Propagation and sampling of a thread, for all of its traces. */
export interface TraceContext {
  readonly propagation: TracePropagation;
  readonly sampler: Sampler;
}

/** Trace of an exchange. A class for its fixed shape: one is allocated per request. */
export class ActiveTrace implements RequestTrace {
  readonly traceId: string;
  /** Id by which shares select: the trace id, or a random one where an untrusted client has chosen the trace id. */
  readonly samplingId: string;
  readonly parent: TraceParent | undefined;
  /** Server span of the gateway. */
  readonly spanId: string;
  isSampled: boolean;
  isDetailed = false;
  isTagged = false;
  /** Client span of the current attempt; the upstream gets it as its parent. */
  attemptSpanId: string;
  attemptCount = 0;
  attemptStartedAt = 0;
  origin = '';
  upstreamPath = '';
  upstreamMethod = '';
  /** 0 without a response. */
  upstreamStatus = 0;
  failedAttempts: FailedAttempt[] | undefined = undefined;
  steps: StepTime[] | undefined = undefined;
  readonly #context: TraceContext;

  constructor(
    context: TraceContext,
    ids: Pick<ActiveTrace, 'traceId' | 'samplingId' | 'spanId' | 'attemptSpanId'>,
    parent: TraceParent | undefined,
    isSampled: boolean,
  ) {
    this.#context = context;
    this.traceId = ids.traceId;
    this.samplingId = ids.samplingId;
    this.spanId = ids.spanId;
    this.attemptSpanId = ids.attemptSpanId;
    this.parent = parent;
    this.isSampled = isSampled;
  }

  startAttempt(call: TracedExchange, { origin, path, method, headers }: UpstreamAttempt): void {
    const isRetry = this.attemptCount > 0;
    const isSampled = this.#context.sampler.sampleApi(this.samplingId, call.path, call.api?.id ?? '', this.isSampled);
    const isChanged = isRetry || isSampled !== this.isSampled;
    this.isSampled = isSampled;
    // A signature may cover the headers: they stay as they were signed, with the span id of the first attempt.
    if (isRetry && call.sign !== undefined)
      for (const failed of this.failedAttempts ?? []) failed.spanId = createSpanId();
    else if (isChanged && call.sign === undefined) {
      if (isRetry) this.attemptSpanId = createSpanId();
      this.#context.propagation.replaceContext(headers as string[], this.toOutgoing());
    }
    this.attemptCount++;
    this.attemptStartedAt = call.upstreamStartedAt;
    this.origin = origin;
    this.upstreamPath = path;
    this.upstreamMethod = method;
    this.upstreamStatus = 0;
  }

  toOutgoing() {
    const { traceId, attemptSpanId, spanId, isSampled } = this;
    return { traceId, spanId: attemptSpanId, parentSpanId: spanId, isSampled };
  }

  toLink() {
    return this.isSampled ? { traceId: this.traceId, spanId: this.spanId } : undefined;
  }

  receiveHead(status: number): void {
    this.upstreamStatus = status;
  }

  failAttempt(reason: string): void {
    this.failedAttempts ??= [];
    this.failedAttempts.push({
      spanId: this.attemptSpanId,
      startedAt: this.attemptStartedAt,
      endedAt: performance.now(),
      reason,
    });
  }

  addStep(name: string, startedAt: number, endedAt: number): void {
    this.steps ??= [];
    if (this.steps.length < maxSteps) this.steps.push({ name, startedAt, endedAt });
  }
}
