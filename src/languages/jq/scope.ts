import type { DestructuringPattern } from './nodes.ts';

/** Names in scope at parse time: `$x`, `f/1`, and labels as `*$out`. */
export interface Scope {
  has(name: string): boolean;
  /** Reason why a function of jq is not supported. */
  unsupportedReason(name: string): string | undefined;
}

export const declare = (outer: Scope, name: string): Scope => ({
  has: other => other === name || outer.has(other),
  unsupportedReason: other => (other === name ? undefined : outer.unsupportedReason(other)),
});

/** Variables that a pattern binds. */
export function listVariables(pattern: DestructuringPattern): string[] {
  if (pattern.kind === 'name') return [pattern.name];
  if (pattern.kind === 'items') return pattern.items.flatMap(listVariables);
  return pattern.members.flatMap(({ variable, value }) => [
    ...(variable === undefined ? [] : [variable]),
    ...(value ? listVariables(value) : []),
  ]);
}
