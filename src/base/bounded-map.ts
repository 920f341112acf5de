/**
 * Map of at most `maxEntries`, in the order of insertion: a new entry evicts the oldest one. `set` and `touch` move an
 * entry to the end, so that a caller who touches what it reads has a strict LRU. `Lru` is cheaper to read, but evicts
 * half of its entries at once and does not report them.
 */
export class BoundedMap<K, V extends NonNullable<unknown>> {
  readonly #entries = new Map<K, V>();
  readonly #maxEntries: number;
  readonly #onEvict: ((value: V, key: K) => void) | undefined;

  constructor(maxEntries: number, onEvict?: (value: V, key: K) => void) {
    this.#maxEntries = Math.max(1, maxEntries);
    this.#onEvict = onEvict;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** `get`, and marks the entry as the one used last. */
  touch(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#maxEntries) return;
    const [oldestKey, oldest] = this.#entries.entries().next().value!;
    this.#entries.delete(oldestKey);
    this.#onEvict?.(oldest, oldestKey);
  }

  /** Removes an entry; it does not count as evicted. */
  delete(key: K): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  values(): IterableIterator<V> {
    return this.#entries.values();
  }

  get size(): number {
    return this.#entries.size;
  }
}
