import { isObject, type JsonObject } from '#base/json-tree.ts';
import { reservedPrefix } from '#definition/data-graph/data-graph-check.ts';
import type { DataSource } from '#definition/data-graph/data-source.ts';
import { SourceError } from './source-error.ts';

/** An error of a GraphQL source, with what is left of its path below a value. */
export interface UpstreamError {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** Object of a GraphQL source: members are named by the response keys of the client's selection. */
export class GraphqlValue {
  readonly members: JsonObject;
  readonly source: DataSource;
  readonly errors: readonly UpstreamError[];

  constructor(members: JsonObject, source: DataSource, errors: readonly UpstreamError[]) {
    this.members = members;
    this.source = source;
    this.errors = errors;
  }

  /** Value of a selected field: objects are wrapped, an error takes the place of a null that it explains. */
  read(key: string, isComposite: boolean): unknown {
    const value = Object.hasOwn(this.members, key) ? this.members[key] : undefined;
    return wrapValue(value, this.source, descend(this.errors, key), isComposite);
  }
}

const noErrors: readonly UpstreamError[] = [];

const descend = (errors: readonly UpstreamError[], step: string | number): readonly UpstreamError[] =>
  errors.length === 0
    ? noErrors
    : errors.filter(({ path }) => path[0] === step).map(({ message, path }) => ({ message, path: path.slice(1) }));

export function wrapValue(
  value: unknown,
  source: DataSource,
  errors: readonly UpstreamError[],
  isComposite: boolean,
): unknown {
  if (value === null || value === undefined) return errors.length > 0 ? new SourceError(errors[0]!.message) : null;
  if (Array.isArray(value))
    return isComposite || errors.length > 0
      ? value.map((item, at) => wrapValue(item, source, descend(errors, at), isComposite))
      : value;
  return isComposite && isObject(value) ? new GraphqlValue(value, source, errors) : value;
}

/** Member of a parent object for a template: of a GraphQL source under the name of the gateway's own selection. */
export function readMember(parent: unknown, name: string): unknown {
  const [members, key] = parent instanceof GraphqlValue ? [parent.members, `${reservedPrefix}${name}`] : [parent, name];
  if (!isObject(members) || !Object.hasOwn(members, key)) return undefined;
  return members[key];
}
