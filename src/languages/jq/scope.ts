import type { Pattern } from './nodes.ts';

/** What is declared where a part of a filter stands: `$x`, `f/1`, and labels as `*$out`. */
export interface Scope {
  knows(name: string): boolean;
  /** Why a function of the language is not offered here. */
  refuses(name: string): string | undefined;
}

export const declared = (outer: Scope, name: string): Scope => ({
  knows: asked => asked === name || outer.knows(asked),
  refuses: asked => (asked === name ? undefined : outer.refuses(asked)),
});

/** The variables a pattern sets. */
export function namesOf(pattern: Pattern): string[] {
  if (pattern.is === 'name') return [pattern.name];
  if (pattern.is === 'items') return pattern.items.flatMap(namesOf);
  return pattern.members.flatMap(({ variable, value }) => [
    ...(variable === undefined ? [] : [variable]),
    ...(value ? namesOf(value) : []),
  ]);
}
