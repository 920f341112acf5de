/**
 * Declared problems of operations that no test reaches, by the reason. `npm test` fails for every other one; the number
 * of entries may only fall.
 */
export const maxUnreachedProblems = 0;

export const unreachedProblems: Readonly<Record<string, readonly string[]>> = {};
