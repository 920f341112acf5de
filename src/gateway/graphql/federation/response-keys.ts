import type { FieldNode } from 'graphql';

/** Of aliases in plans: one of a client could be the name of a key, of a required field or of `__typename`. */
const aliasPrefix = '_gw_alias_';

/** Alias of a field in plans and in the merged tree; undefined for the name of the field. */
export const findPlannedAlias = ({ alias, name }: FieldNode): string | undefined =>
  alias && alias.value !== name.value ? aliasPrefix + alias.value : undefined;

/** Path of an error with the aliases of the client. */
export const restoreAliases = (path: readonly (string | number)[]): (string | number)[] =>
  path.map(step => (typeof step === 'string' && step.startsWith(aliasPrefix) ? step.slice(aliasPrefix.length) : step));
