/** Random numbers for sample data: from 0 to below 1. */
export type Random = () => number;

/** Generator mulberry32: 32 bits of state, for data that need not be unpredictable. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** An entry of a list, by its weight. */
export function pickWeighted<T extends { readonly weight: number }>(list: readonly T[], random: Random): T {
  let rest = random() * list.reduce((sum, { weight }) => sum + weight, 0);
  for (const entry of list) {
    rest -= entry.weight;
    if (rest < 0) return entry;
  }
  return list.at(-1)!;
}
