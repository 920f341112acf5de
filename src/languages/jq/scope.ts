import type { DestructuringPattern } from './nodes.ts';

/** What is declared where a part of a filter stands: `$x`, `f/1`, and labels as `*$out`. */
export interface Scope {
  has(name: string): boolean;
  /** Why a function of the language is not offered here. */
  unsupportedReason(name: string): string | undefined;
}

export const declare = (outer: Scope, name: string): Scope => ({
  has: asked => asked === name || outer.has(asked),
  unsupportedReason: asked => (asked === name ? undefined : outer.unsupportedReason(asked)),
});

/** The variables a pattern sets. */
export function listVariables(pattern: DestructuringPattern): string[] {
  if (pattern.kind === 'name') return [pattern.name];
  if (pattern.kind === 'items') return pattern.items.flatMap(listVariables);
  return pattern.members.flatMap(({ variable, value }) => [
    ...(variable === undefined ? [] : [variable]),
    ...(value ? listVariables(value) : []),
  ]);
}
