import type { TimeoutQueue } from '#base/timeout-queue.ts';
import type { Responder } from '../pipeline/respond.ts';

/** Services and bounds of a thread for upstream responses. */
export interface ResponseContext {
  readonly responder: Responder;
  readonly maxResponseBytes: number;
  /** Bound of a response body that a step reads whole. */
  readonly maxBufferedBytes: number;
  /** Timeouts of buffered responses. */
  readonly bufferingTimeouts: TimeoutQueue;
}
