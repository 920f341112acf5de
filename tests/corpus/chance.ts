/** Choices that look like chance and are the same on every run. */
export interface Chance {
  /** From 0 up to, and without, `below`. */
  number(below: number): number;
  pick<T>(list: readonly T[]): T;
  word(): string;
}

const starts = ['ord', 'cust', 'inv', 'ship', 'prod', 'acc', 'pay', 'cat', 'loc', 'dev', 'book', 'msg', 'team', 'tag'];
const ends = [
  'ers',
  'omers',
  'oices',
  'ments',
  'ucts',
  'ounts',
  'outs',
  'alogues',
  'ations',
  'ices',
  'ings',
  's',
  'lets',
];

export function chance(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
  const number = (below: number) => next() % below;
  const pick = <T>(list: readonly T[]): T => list[number(list.length)]!;
  return { number, pick, word: () => pick(starts) + pick(ends) };
}
