import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { collectFragments } from './document-size.ts';

/** Root field of an operation with the depth of the selections below it; 0 for a leaf. */
export interface RootField {
  readonly name: string;
  readonly depth: number;
}

/** One operation of a valid document, with the facts that access rules compare. */
export interface AnalysedOperation {
  readonly node: OperationDefinitionNode;
  readonly name: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly rootType: string;
  /** Nested selection sets, the operation included: `{ a { b } }` is 2. */
  readonly depth: number;
  readonly rootFields: readonly RootField[];
  /** Selected fields by the name of their parent type, in document order; without meta fields. */
  readonly fields: ReadonlyMap<string, ReadonlySet<string>>;
  /** Selects `__schema`, `__type`, or `_service` of a subgraph, which returns the schema as SDL. */
  readonly hasIntrospection: boolean;
  /** Selects meta fields of the root only: the schema holds the whole result. */
  readonly isMetaOnly: boolean;
}

const introspectionFields = new Set(['__schema', '__type', '_service']);

/** Analyses the operations of a valid document. */
export function analyseOperations(schema: GraphQLSchema, document: DocumentNode): AnalysedOperation[] {
  const fragments = collectFragments(document);
  const depths = new Map<string, number>();
  return document.definitions.flatMap(it =>
    it.kind === Kind.OPERATION_DEFINITION ? [analyseOperation(schema, it, fragments, depths)] : [],
  );
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

function analyseOperation(
  schema: GraphQLSchema,
  node: OperationDefinitionNode,
  fragments: Fragments,
  depths: Map<string, number>,
): AnalysedOperation {
  const root = schema.getRootType(node.operation)!;
  const roots = listFields(node.selectionSet, fragments);
  const rootFields = new Map<string, number>();
  for (const field of roots) {
    const depth = field.selectionSet ? measureDepth(field.selectionSet, fragments, depths) : 0;
    rootFields.set(field.name.value, Math.max(depth, rootFields.get(field.name.value) ?? 0));
  }
  const names = [...rootFields.keys()];
  return {
    node,
    name: node.name?.value ?? '',
    type: node.operation,
    rootType: root.name,
    depth: 1 + Math.max(0, ...rootFields.values()),
    rootFields: [...rootFields].map(([name, depth]) => ({ name, depth })),
    fields: collectTypedFields(schema, node.selectionSet, root, fragments),
    hasIntrospection: names.some(name => introspectionFields.has(name)),
    isMetaOnly: names.every(name => name.startsWith('__')),
  };
}

/** Fields of a selection set, fragments expanded. */
export function listFields({ selections }: SelectionSetNode, fragments: Fragments): FieldNode[] {
  return selections.flatMap(selection => {
    if (selection.kind === Kind.FIELD) return selection;
    if (selection.kind === Kind.INLINE_FRAGMENT) return listFields(selection.selectionSet, fragments);
    return listFields(fragments.get(selection.name.value)!.selectionSet, fragments);
  });
}

function measureDepth({ selections }: SelectionSetNode, fragments: Fragments, depths: Map<string, number>): number {
  let depth = 0;
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      const under = selection.selectionSet ? measureDepth(selection.selectionSet, fragments, depths) : 0;
      depth = Math.max(depth, 1 + under);
    } else if (selection.kind === Kind.INLINE_FRAGMENT)
      depth = Math.max(depth, measureDepth(selection.selectionSet, fragments, depths));
    else {
      const name = selection.name.value;
      const known = depths.get(name) ?? measureDepth(fragments.get(name)!.selectionSet, fragments, depths);
      depths.set(name, known);
      depth = Math.max(depth, known);
    }
  }
  return depth;
}

function collectTypedFields(
  schema: GraphQLSchema,
  selectionSet: SelectionSetNode,
  root: GraphQLCompositeType,
  fragments: Fragments,
): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const visited = new Set<string>();

  function visitField({ name: { value: name }, selectionSet: under }: FieldNode, parent: GraphQLCompositeType): void {
    // Meta fields have rules of their own.
    if (name.startsWith('__')) return;
    const fields = found.get(parent.name);
    if (fields) fields.add(name);
    else found.set(parent.name, new Set([name]));
    const type = 'getFields' in parent ? getNamedType(parent.getFields()[name]?.type) : undefined;
    if (under && type && isCompositeType(type)) visitSet(under, type);
  }

  function visitSet({ selections }: SelectionSetNode, parent: GraphQLCompositeType): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) visitField(selection, parent);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        visitSet(selection.selectionSet, findCondition(selection.typeCondition?.name.value, parent));
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        const fragment = fragments.get(selection.name.value)!;
        visitSet(fragment.selectionSet, findCondition(fragment.typeCondition.name.value, parent));
      }
    }
  }
  const findCondition = (name: string | undefined, parent: GraphQLCompositeType) =>
    name === undefined ? parent : (schema.getType(name) as GraphQLCompositeType);

  visitSet(selectionSet, root);
  return found;
}
