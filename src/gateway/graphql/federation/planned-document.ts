import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { findPlannedAlias } from './response-keys.ts';

/** Fields that the schema answers. */
const schemaFields: ReadonlySet<string> = new Set(['__schema', '__type']);
const typeNameField: SelectionNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } };

/** Types whose values the plan must name, for the projection to leave out those that clients do not see. */
export interface NamedTypes {
  readonly names: ReadonlySet<string>;
  readonly rootType: string;
  findFieldType(type: string, field: string): string | undefined;
}

/**
 * Text of an operation for the query planner, with the fragments it uses and aliases that are no names of a subgraph:
 * without introspection, and without what constant conditions exclude. Undefined where nothing is left to fetch.
 */
export function writePlannedDocument(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  named: NamedTypes,
): string | undefined {
  const defined = new Map<string, FragmentDefinitionNode>();
  for (const it of document.definitions) if (it.kind === Kind.FRAGMENT_DEFINITION) defined.set(it.name.value, it);
  /** Undefined for one that has nothing left. */
  const reduced = new Map<string, FragmentDefinitionNode | undefined>();

  function findFragment(name: string): FragmentDefinitionNode | undefined {
    if (reduced.has(name)) return reduced.get(name);
    const fragment = defined.get(name)!;
    const selectionSet = reduceSet(fragment.selectionSet, fragment.typeCondition.name.value);
    const result = selectionSet && { ...fragment, selectionSet };
    reduced.set(name, result);
    return result;
  }

  function reduceSet({ selections, ...rest }: SelectionSetNode, parent: string): SelectionSetNode | undefined {
    const left = selections.flatMap(it => reduceSelection(it, parent));
    return left.length > 0 ? { ...rest, selections: left } : undefined;
  }

  function reduceSelection(selection: SelectionNode, parent: string): SelectionNode[] {
    if (isExcluded(selection.directives)) return [];
    if (selection.kind === Kind.FRAGMENT_SPREAD) return findFragment(selection.name.value) ? [selection] : [];
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const selectionSet = reduceSet(selection.selectionSet, selection.typeCondition?.name.value ?? parent);
      return selectionSet ? [{ ...selection, selectionSet }] : [];
    }
    if (schemaFields.has(selection.name.value)) return [];
    const { alias: _replaced, ...plain } = selection;
    const alias = findPlannedAlias(selection);
    const field: FieldNode = alias === undefined ? plain : { ...plain, alias: { kind: Kind.NAME, value: alias } };
    if (!selection.selectionSet) return [field];
    // An object whose fields are all excluded is still an object, or null.
    const type = named.findFieldType(parent, selection.name.value) ?? '';
    const below = reduceSet(selection.selectionSet, type)?.selections ?? [];
    const needsName = below.length === 0 || named.names.has(type);
    const selections = needsName ? [typeNameField, ...below] : below;
    return [{ ...field, selectionSet: { kind: Kind.SELECTION_SET, selections } }];
  }

  const selectionSet = reduceSet(operation.selectionSet, named.rootType);
  if (!selectionSet) return undefined;
  const fragments = [...reduced.values()].filter(it => it !== undefined);
  return [{ ...operation, selectionSet }, ...fragments].map(print).join('\n');
}

const isExcluded = (directives: readonly DirectiveNode[] = []): boolean =>
  directives.some(({ name, arguments: [condition] = [] }) => {
    if (condition?.value.kind !== Kind.BOOLEAN) return false;
    const { value } = condition.value;
    return (name.value === 'skip' && value) || (name.value === 'include' && !value);
  });
