import { compareCodePoints } from '#base/compare-code-points.ts';

/** Sorts objects by their ids, in the order of both database engines. */
export const sortById = <T extends { readonly id: string }>(objects: readonly T[]): T[] =>
  [...objects].sort((left, right) => compareCodePoints(left.id, right.id));
