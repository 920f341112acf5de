import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type FieldDefinitionNode,
  Kind,
  parse,
  valueFromASTUntyped,
} from 'graphql';

/** Condition for reading a field or a type: an authenticated client, with all scopes of one of the lists. */
export interface FieldGuard {
  /** Undefined: any authenticated client. */
  readonly scopes: readonly (readonly string[])[] | undefined;
}

/** Guards by `Type`, and by `Type.field`. */
export type FieldGuards = ReadonlyMap<string, readonly FieldGuard[]>;

/** Guards of a supergraph: its directives `@authenticated` and `@requiresScopes`. */
export function readFieldGuards(supergraphSdl: string): FieldGuards {
  const guards = new Map<string, readonly FieldGuard[]>();
  const add = (place: string, { directives = [] }: { readonly directives?: readonly ConstDirectiveNode[] }) => {
    const own = directives.flatMap(toGuard);
    if (own.length > 0) guards.set(place, own);
  };
  for (const definition of parse(supergraphSdl, { noLocation: true }).definitions) {
    if (!isGuardable(definition)) continue;
    const type = definition.name.value;
    add(type, definition);
    if ('fields' in definition)
      for (const field of definition.fields ?? []) add(`${type}.${field.name.value}`, field as FieldDefinitionNode);
  }
  return guards;
}

const isGuardable = (definition: DefinitionNode) =>
  definition.kind === Kind.OBJECT_TYPE_DEFINITION ||
  definition.kind === Kind.INTERFACE_TYPE_DEFINITION ||
  definition.kind === Kind.SCALAR_TYPE_DEFINITION ||
  definition.kind === Kind.ENUM_TYPE_DEFINITION;

function toGuard({ name, arguments: given = [] }: ConstDirectiveNode): FieldGuard[] {
  if (name.value === 'authenticated') return [{ scopes: undefined }];
  if (name.value !== 'requiresScopes') return [];
  const value = given.find(it => it.name.value === 'scopes')?.value;
  return [{ scopes: value ? (valueFromASTUntyped(value) as string[][]) : [] }];
}
