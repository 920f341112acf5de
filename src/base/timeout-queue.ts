/** Entry of a timeout queue. */
export interface TimeoutEntry {
  /** Set by the queue. */
  expiresAtMs: number;
  onTimeout(): void;
}

/** Maximum delay of `setTimeout`. */
const maxTimerMs = 2 ** 31 - 1;

/** Timeouts of one duration share one timer: they expire in insertion order, so only the first needs a `setTimeout`. */
export class TimeoutQueue {
  readonly timeoutMs: number;
  readonly #entries = new Set<TimeoutEntry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.timeoutMs = Math.min(Math.max(1, timeoutMs), maxTimerMs);
  }

  /** Starts the timeout, or restarts it. */
  start(entry: TimeoutEntry): void {
    entry.expiresAtMs = performance.now() + this.timeoutMs;
    this.#entries.delete(entry);
    this.#entries.add(entry);
    if (this.#timer === undefined) this.#setTimer(this.timeoutMs);
  }

  clear(entry: TimeoutEntry): void {
    this.#entries.delete(entry);
  }

  get size(): number {
    return this.#entries.size;
  }

  #setTimer(timeoutMs: number): void {
    this.#timer = setTimeout(() => this.#sweep(), Math.ceil(timeoutMs)).unref();
  }

  #sweep(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const entry of this.#entries) {
      // `onTimeout` may start other entries: those expire later.
      if (entry.expiresAtMs > now) {
        if (this.#timer === undefined) this.#setTimer(entry.expiresAtMs - now);
        return;
      }
      this.#entries.delete(entry);
      entry.onTimeout();
    }
  }
}
