/**
 * Persistent map for snapshots: entries are in shards by a hash of their key, and copies share every shard that they do
 * not write to. One change among N entries copies the list of shards and one shard, which has a bounded size; only a
 * map that outgrows its shards is resharded as a whole.
 */
export class ShardedMap<V extends object> implements ReadonlyMap<string, V> {
  /** A power of two. */
  #shards: Map<string, V>[];
  /** Shards that no copy shares. */
  readonly #own = new Set<Map<string, V>>();
  #size: number;

  constructor(entries: Iterable<readonly [string, V]> = []) {
    this.#shards = [new Map()];
    this.#size = 0;
    for (const [key, value] of entries) this.set(key, value);
  }

  copy(): ShardedMap<V> {
    this.#own.clear();
    const copy = new ShardedMap<V>();
    copy.#shards = this.#shards.slice();
    copy.#size = this.#size;
    return copy;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): V | undefined {
    return this.#shards[this.#indexOf(key)]!.get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: V): void {
    const shard = this.#writableShard(key);
    if (!shard.has(key)) this.#size++;
    shard.set(key, value);
    if (this.#size > this.#shards.length * maxMeanShardSize) this.#divide();
  }

  delete(key: string): void {
    if (!this.has(key)) return;
    this.#writableShard(key).delete(key);
    this.#size--;
  }

  *entries(): MapIterator<[string, V]> {
    for (const shard of this.#shards) yield* shard;
  }

  *keys(): MapIterator<string> {
    for (const shard of this.#shards) yield* shard.keys();
  }

  *values(): MapIterator<V> {
    for (const shard of this.#shards) yield* shard.values();
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }

  forEach(visit: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }

  #indexOf(key: string): number {
    const last = this.#shards.length - 1;
    return last === 0 ? 0 : hashText(key) & last;
  }

  #writableShard(key: string): Map<string, V> {
    const index = this.#indexOf(key);
    const shard = this.#shards[index]!;
    if (this.#own.has(shard)) return shard;
    const copy = new Map(shard);
    this.#own.add(copy);
    this.#shards[index] = copy;
    return copy;
  }

  #divide(): void {
    const all = [...this.entries()];
    this.#shards = Array.from({ length: this.#shards.length * 2 }, () => new Map<string, V>());
    this.#own.clear();
    for (const shard of this.#shards) this.#own.add(shard);
    for (const [key, value] of all) this.#shards[this.#indexOf(key)]!.set(key, value);
  }
}

/** Copying a reference in the list of shards costs far less than copying an entry of a shard. */
const maxMeanShardSize = 16;

/** FNV-1a; the shift brings high bits into the low ones, which choose the shard. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
