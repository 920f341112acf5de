import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isListType,
  isNonNullType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { collectFragments } from './document-size.ts';
import type { AnalysedOperation } from './operations.ts';

/** Arguments that give the number of items of a list. */
const sizeArguments: ReadonlySet<string> = new Set(['first', 'last', 'limit', 'take', 'size', 'count', 'pageSize']);

export interface CostOptions {
  /** Items of a list without such an argument. */
  readonly defaultListSize: number;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Cost of an operation: each field counts one, and the fields below a list count once for each of its items. The size
 * of a connection (`users(first: 50) { edges { … } }`) is that of the next list below it.
 */
export function computeCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  { node }: AnalysedOperation,
  { defaultListSize, variables }: CostOptions,
): number {
  const fragments: ReadonlyMap<string, FragmentDefinitionNode> = collectFragments(document);
  const fragmentCosts = new Map<string, number>();

  function sumFields({ selections }: SelectionSetNode, parent: GraphQLCompositeType, size: number | undefined): number {
    let sum = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) sum += costOf(selection, parent, size);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        sum += sumFields(selection.selectionSet, findType(selection.typeCondition?.name.value) ?? parent, size);
      else sum += costOfFragment(selection.name.value, size);
    }
    return sum;
  }

  function costOfFragment(name: string, size: number | undefined): number {
    const key = `${name} ${size}`;
    const known = fragmentCosts.get(key);
    if (known !== undefined) return known;
    const { selectionSet, typeCondition } = fragments.get(name)!;
    const cost = sumFields(selectionSet, findType(typeCondition.name.value)!, size);
    fragmentCosts.set(key, cost);
    return cost;
  }

  function costOf(field: FieldNode, parent: GraphQLCompositeType, outerSize: number | undefined): number {
    const type = 'getFields' in parent ? parent.getFields()[field.name.value]?.type : undefined;
    if (!type || !field.selectionSet) return 1;
    const named = getNamedType(type);
    if (!isCompositeType(named)) return 1;
    const own = readSize(field.arguments ?? [], variables);
    if (!isList(type)) return 1 + sumFields(field.selectionSet, named, own ?? outerSize);
    return 1 + (own ?? outerSize ?? defaultListSize) * sumFields(field.selectionSet, named, undefined);
  }

  const findType = (name: string | undefined) =>
    name === undefined ? undefined : (schema.getType(name) as GraphQLCompositeType | undefined);
  return sumFields(node.selectionSet, schema.getRootType(node.operation)!, undefined);
}

const isList = (type: GraphQLOutputType): boolean => isListType(isNonNullType(type) ? type.ofType : type);

/** The largest of the sizes; undefined without one that is a number. Null is no size: servers read it as no limit. */
function readSize(given: readonly ArgumentNode[], variables: CostOptions['variables']): number | undefined {
  let largest: number | undefined;
  for (const { name, value } of given) {
    if (!sizeArguments.has(name.value)) continue;
    const isNumber = value.kind === Kind.INT || value.kind === Kind.FLOAT;
    const size =
      value.kind === Kind.VARIABLE ? variables[value.name.value] : isNumber ? Number(value.value) : undefined;
    if (typeof size === 'number' && Number.isFinite(size)) largest = Math.max(largest ?? 1, Math.abs(size));
  }
  return largest;
}
