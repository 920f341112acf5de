/**
 * Keyed 64-bit hash of names: HalfSipHash with one round per word and three at the end, over UTF-16 units. The key is
 * random per process, so that clients cannot choose colliding names.
 */
export interface NameHash {
  /** Writes the result to `halves`; the next call overwrites it. */
  hash(name: string): void;
  /** Low half, high half; never both zero. */
  readonly halves: Int32Array;
}

const finalRounds = 3;

export function createNameHash(key0: number, key1: number): NameHash {
  const halves = new Int32Array(2);
  const state = new Int32Array(4);

  function hash(name: string): void {
    let v0 = key0 | 0;
    let v1 = (key1 ^ 0xee) | 0;
    let v2 = (0x6c796765 ^ key0) | 0;
    let v3 = (0x74656462 ^ key1) | 0;
    const { length } = name;
    for (let index = 0; index <= length; index += 2) {
      // Two units per word; the last word contains the length, so that no name is a prefix of another.
      const word =
        index + 1 < length
          ? name.charCodeAt(index) | (name.charCodeAt(index + 1) << 16)
          : (index < length ? name.charCodeAt(index) : 0) | (length << 16);
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    state[0] = v0;
    state[1] = v1;
    state[2] = v2 ^ 0xee;
    state[3] = v3;
    finish(state);
    halves[0] = state[1]! ^ state[3]!;
    state[1]! ^= 0xdd;
    finish(state);
    halves[1] = state[1]! ^ state[3]!;
    if (halves[0] === 0 && halves[1] === 0) halves[0] = 1;
  }

  return { hash, halves };
}

function finish(state: Int32Array): void {
  let v0 = state[0]!;
  let v1 = state[1]!;
  let v2 = state[2]!;
  let v3 = state[3]!;
  for (let round = 0; round < finalRounds; round++) {
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
  }
  state[0] = v0;
  state[1] = v1;
  state[2] = v2;
  state[3] = v3;
}
