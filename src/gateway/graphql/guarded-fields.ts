import { getNamedType, isInterfaceType, isObjectType } from 'graphql';
import type { FieldGuard, FieldGuards } from '#languages/graphql/federation/field-guards.ts';
import type { AnalysedOperation } from '#languages/graphql/operations.ts';
import type { CompiledSchema } from '#languages/graphql/schema.ts';

/** A client as guards see it: whether it is authenticated, and the scopes of its token. */
export interface GuardedClient {
  readonly isAuthenticated: boolean;
  readonly scopes: ReadonlySet<string>;
}

/**
 * The first selected field that the guards of a supergraph deny. A field of an interface may be one of each
 * implementation, and a value of an abstract type one of each of its types: the guards of all of them hold.
 */
export function findGuardedField(
  { fields }: AnalysedOperation,
  { schema, listRelatedTypes }: Pick<CompiledSchema, 'schema' | 'listRelatedTypes'>,
  guards: FieldGuards,
  client: GuardedClient,
): { readonly type: string; readonly field: string } | undefined {
  const isDenied = (place: string) => guards.get(place)?.some(guard => !isAllowed(guard, client)) ?? false;
  for (const [type, names] of fields)
    for (const field of names) {
      const related = [...listRelatedTypes(type)];
      const parent = schema.getType(type);
      const returned =
        isObjectType(parent) || isInterfaceType(parent)
          ? getNamedType(parent.getFields()[field]?.type)?.name
          : undefined;
      const places = [
        ...related.flatMap(it => [it, `${it}.${field}`]),
        ...(returned === undefined ? [] : [returned, ...listRelatedTypes(returned)]),
      ];
      if (places.some(isDenied)) return { type, field };
    }
  return undefined;
}

const isAllowed = ({ scopes }: FieldGuard, client: GuardedClient): boolean =>
  client.isAuthenticated &&
  (scopes === undefined || scopes.some(list => list.every(scope => client.scopes.has(scope))));
