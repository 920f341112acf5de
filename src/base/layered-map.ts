/**
 * Persistent map for snapshots: a shared base below a layer of changes. A copy takes the layer alone, so that one change
 * among N entries costs about √N; a layer that has grown beyond that is merged into a new base.
 */
export class LayeredMap<K, V extends object> implements ReadonlyMap<K, V> {
  readonly #base: ReadonlyMap<K, V>;
  /** Undefined stands for a removed entry of the base. */
  readonly #layer: Map<K, V | undefined>;
  #size: number;

  constructor(base: ReadonlyMap<K, V> = new Map(), layer = new Map<K, V | undefined>(), size = base.size) {
    this.#base = base;
    this.#layer = layer;
    this.#size = size;
  }

  /** The copy may be changed; this map must not be changed any more. */
  copy(): LayeredMap<K, V> {
    const isSmall = this.#layer.size <= minLayerSize || this.#layer.size ** 2 <= 2 * this.#base.size;
    return isSmall ? new LayeredMap(this.#base, new Map(this.#layer), this.#size) : new LayeredMap(new Map(this));
  }

  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    if (this.#layer.size === 0) return this.#base.get(key);
    return this.#layer.get(key) ?? (this.#layer.has(key) ? undefined : this.#base.get(key));
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  set(key: K, value: V): void {
    if (!this.has(key)) this.#size++;
    this.#layer.set(key, value);
  }

  delete(key: K): void {
    if (!this.has(key)) return;
    this.#size--;
    if (this.#base.has(key)) this.#layer.set(key, undefined);
    else this.#layer.delete(key);
  }

  *entries(): MapIterator<[K, V]> {
    for (const entry of this.#base) if (!this.#layer.has(entry[0])) yield entry;
    for (const [key, value] of this.#layer) if (value !== undefined) yield [key, value];
  }

  *keys(): MapIterator<K> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  forEach(visit: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }
}

/** Below it a copy of the layer is cheaper than everything around it. */
const minLayerSize = 32;
