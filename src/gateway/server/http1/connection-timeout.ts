import type { TimeoutEntry, TimeoutQueue } from '#base/timeout-queue.ts';

/** A timeout of a connection, in at most one queue at a time. */
export class ConnectionTimeout implements TimeoutEntry {
  expiresAtMs = 0;
  readonly onTimeout: () => void;
  #queue: TimeoutQueue | undefined;

  constructor(onTimeout: () => void) {
    this.onTimeout = onTimeout;
  }

  get isStarted(): boolean {
    return this.#queue !== undefined;
  }

  start(queue: TimeoutQueue): void {
    if (this.#queue !== queue) this.#queue?.clear(this);
    this.#queue = queue;
    queue.start(this);
  }

  clear(): void {
    this.#queue?.clear(this);
    this.#queue = undefined;
  }
}

/** One queue per duration: no timer per connection or request. */
export interface ConnectionTimeouts {
  readonly head: TimeoutQueue;
  /** Of a whole request; undefined without a limit. */
  readonly request: TimeoutQueue | undefined;
  readonly keepAlive: TimeoutQueue;
  readonly linger: TimeoutQueue;
  /** Of the responses to a client that has ended its side; undefined where it counts as disconnected. */
  readonly halfClose: TimeoutQueue | undefined;
  /** Of a client that reads nothing. */
  readonly write: TimeoutQueue;
}
