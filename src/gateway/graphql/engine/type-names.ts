import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';

/** `__typename` in the selection of a field: how often, and the length of the names and values in the result. */
export interface TypeNames {
  count: number;
  length: number;
}

const measured = new WeakMap<FieldNode, TypeNames>();

/** Measures `__typename` in the selection of a field, through fragments; a type that a fragment names counts as met. */
export function measureTypeNames({ fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>) {
  const sum: TypeNames = { count: 0, length: 0 };
  for (const node of fieldNodes) {
    const known = measured.get(node) ?? measureSet(node.selectionSet, fragments, { count: 0, length: 0 });
    measured.set(node, known);
    sum.count += known.count;
    sum.length += known.length;
  }
  return sum;
}

/** Length of a type's name, with punctuation. */
const valueLength = 32;

function measureSet(
  set: SelectionSetNode | undefined,
  fragments: GraphQLResolveInfo['fragments'],
  into: TypeNames,
): TypeNames {
  for (const it of set?.selections ?? []) {
    if (it.kind === Kind.INLINE_FRAGMENT) measureSet(it.selectionSet, fragments, into);
    else if (it.kind === Kind.FRAGMENT_SPREAD) measureSet(fragments[it.name.value]?.selectionSet, fragments, into);
    else if (it.name.value === '__typename') {
      into.count++;
      into.length += (it.alias ?? it.name).value.length + valueLength;
    }
  }
  return into;
}
