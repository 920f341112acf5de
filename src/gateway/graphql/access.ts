import type { Right } from '#access/keys/session.ts';
import type { AnalysedOperation } from '#languages/graphql/operations.ts';
import type { CompiledSchema } from '#languages/graphql/schema.ts';

/** Depth limit: of the API for every client, then of the right of the key. */
export function exceedsDepth(operation: AnalysedOperation, maxDepth: number, right: Right | undefined): boolean {
  if (maxDepth > 0 && operation.depth > maxDepth) return true;
  if (!right) return false;
  const limit = right.limits.queryDepth ?? Number.POSITIVE_INFINITY;
  if (right.fieldDepths.length === 0) return operation.depth > limit;
  return operation.rootFields.some(({ name, depth }) => {
    const own = right.fieldDepths.find(it => it.fieldName === name && it.typeName === operation.rootType);
    return own ? depth > (own.queryDepth ?? Number.POSITIVE_INFINITY) : depth + 1 > limit;
  });
}

type TypeFields = ReadonlyMap<string, ReadonlySet<string>>;

interface FieldRules {
  /** Undefined without a list: every field is allowed. */
  readonly allowed: TypeFields | undefined;
  readonly restricted: TypeFields;
}

/** Rights of many requests are one object: see `compileRights`. */
const compiledRules = new WeakMap<Right, FieldRules>();

function findRules(right: Right): FieldRules {
  const known = compiledRules.get(right);
  if (known) return known;
  const rules = {
    allowed: right.allowedTypes.length > 0 ? groupFields(right.allowedTypes) : undefined,
    restricted: groupFields(right.restrictedTypes),
  };
  compiledRules.set(right, rules);
  return rules;
}

/** Entries of one type add up. */
function groupFields(types: Right['allowedTypes']): TypeFields {
  const grouped = new Map<string, Set<string>>();
  for (const { name, fields } of types) grouped.set(name, new Set([...(grouped.get(name) ?? []), ...fields]));
  return grouped;
}

const includesField = (types: TypeFields, type: string, field: string): boolean => {
  const fields = types.get(type);
  return fields !== undefined && (fields.has(field) || fields.has('*'));
};

const entitiesField = '_entities';

/**
 * Field rights: the first selected field that the key may not read. A field of an interface is read from each
 * implementation, so a rule of one of them applies to it, and a rule of the interface to its implementations, also
 * where another of their interfaces selects the field.
 */
export function findRestrictedField(
  { fields: selected, rootType }: AnalysedOperation,
  right: Right,
  { possibleTypes, listRelatedTypes }: CompiledSchema,
): { readonly type: string; readonly field: string } | undefined {
  const { allowed, restricted } = findRules(right);
  if (!allowed && restricted.size === 0) return undefined;
  // Entities of a subgraph are what restricted root fields return.
  if (!allowed && restricted.has(rootType) && selected.get(rootType)?.has(entitiesField))
    return { type: rootType, field: entitiesField };
  for (const [type, fields] of selected) {
    const related = restricted.size > 0 ? [...listRelatedTypes(type)] : [];
    for (const field of fields) {
      const hidden = related.find(it => includesField(restricted, it, field));
      if (hidden !== undefined) return { type: hidden, field };
      if (allowed && !isAllowed(allowed, type, field, possibleTypes)) return { type, field };
    }
  }
  return undefined;
}

/** An abstract type is allowed by its own entry, or by entries of all its object types. */
function isAllowed(
  allowed: TypeFields,
  type: string,
  field: string,
  possibleTypes: CompiledSchema['possibleTypes'],
): boolean {
  if (includesField(allowed, type, field)) return true;
  const possible = possibleTypes.get(type);
  return possible !== undefined && possible.length > 0 && possible.every(it => includesField(allowed, it, field));
}
