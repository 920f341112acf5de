import type { SpanLink } from '#base/otlp/span.ts';

/** The part of an exchange that an attempt depends on. */
export interface TracedExchange {
  readonly path: string;
  readonly api: { readonly id: string } | undefined;
  readonly sign: unknown;
  readonly upstreamStartedAt: number;
}

/** Attempt at the upstream, as the dispatcher of the proxy gets it. */
export interface UpstreamAttempt {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
}

/** Distributed trace of one exchange: its ids and the times of its spans. Absent where tracing is off. */
export interface RequestTrace {
  /** Every step gets a span, not only those that wait. */
  isDetailed: boolean;
  /** The record has the trace id as a tag. */
  isTagged: boolean;
  /** Server span for links of what the request causes; undefined while the trace is not sampled. */
  toLink(): SpanLink | undefined;
  /** Before an attempt is sent: `upstreamStartedAt` of the exchange is set. A retry gets propagation headers of its own. */
  startAttempt(call: TracedExchange, attempt: UpstreamAttempt): void;
  /** Response head of the current attempt. */
  receiveHead(status: number): void;
  /** The current attempt failed and is retried. */
  failAttempt(reason: string): void;
  /** Times of `performance.now()`. */
  addStep(name: string, startedAt: number, endedAt: number): void;
}
