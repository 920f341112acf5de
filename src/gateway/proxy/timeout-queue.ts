/** Something that may take a certain time, and no longer. */
export interface Timed {
  /** Set by whoever watches it. */
  dueAt: number;
  /** Its time is over. */
  late(): void;
}

/** What a timer of the system can be set to. */
const longestMs = 2 ** 31 - 1;

/**
 * Watches over everything that may take the same time. Whoever comes later is due later, so the order of coming is the
 * order of being due, and one timer, set to the first of them, is enough for any number.
 */
export class Deadlines {
  readonly ms: number;
  readonly #waiting = new Set<Timed>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.ms = Math.min(Math.max(1, ms), longestMs);
  }

  /** From now on; also for what is watched already, whose time then begins anew. */
  watch(it: Timed): void {
    it.dueAt = performance.now() + this.ms;
    this.#waiting.delete(it);
    this.#waiting.add(it);
    if (this.#timer === undefined) this.#wait(this.ms);
  }

  forget(it: Timed): void {
    this.#waiting.delete(it);
  }

  get size(): number {
    return this.#waiting.size;
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#sweep(), Math.ceil(ms)).unref();
  }

  #sweep(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const it of this.#waiting) {
      // What is told that it is late may have others watched: those are due later.
      if (it.dueAt > now) {
        if (this.#timer === undefined) this.#wait(it.dueAt - now);
        return;
      }
      this.#waiting.delete(it);
      it.late();
    }
  }
}
