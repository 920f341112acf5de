/** Something that may take a certain time, and no longer. */
export interface TimeoutEntry {
  /** Set by whoever watches it. */
  expiresAtMs: number;
  /** Its time is over. */
  onTimeout(): void;
}

/** What a timer of the system can be set to. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Watches over everything that may take the same time. Whoever comes later is due later, so the order of coming is the
 * order of being due, and one timer, set to the first of them, is enough for any number.
 */
export class TimeoutQueue {
  readonly timeoutMs: number;
  readonly #entries = new Set<TimeoutEntry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.timeoutMs = Math.min(Math.max(1, timeoutMs), maxTimerMs);
  }

  /** From now on; also for what is watched already, whose time then begins anew. */
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
      // What is told that it is late may have others watched: those are due later.
      if (entry.expiresAtMs > now) {
        if (this.#timer === undefined) this.#setTimer(entry.expiresAtMs - now);
        return;
      }
      this.#entries.delete(entry);
      entry.onTimeout();
    }
  }
}
