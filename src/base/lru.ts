/**
 * Two-generation LRU cache: entries are written to the young generation; when it is half of `maxEntries`, it becomes
 * the old one and the old one is evicted. A hit in the young generation writes nothing, unlike in a linked list.
 */
export class Lru<K, V extends NonNullable<unknown> | null> {
  readonly #half: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(maxEntries: number) {
    this.#half = Math.max(1, Math.floor(maxEntries / 2));
  }

  get(key: K): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: K, value: V): void {
    this.#old.delete(key);
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: K): boolean {
    const young = this.#young.delete(key);
    return this.#old.delete(key) || young;
  }

  deleteWhere(matches: (value: V, key: K) => boolean): void {
    for (const generation of [this.#young, this.#old])
      for (const [key, value] of generation) if (matches(value, key)) generation.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }

  /** Entries of both generations; reading them is no use of them. */
  *entries(): IterableIterator<[K, V]> {
    yield* this.#young;
    yield* this.#old;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
