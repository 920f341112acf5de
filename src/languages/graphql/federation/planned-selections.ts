import { type DocumentNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from 'graphql';
import { collectFragments } from '../document-size.ts';
import type { SupergraphTypes } from './supergraph-types.ts';

/** The value of a selection set: its type, what it can be, and how often plans have it. */
interface PlannedValue {
  readonly type: string;
  readonly possible: ReadonlySet<string>;
  /** True where the planner looks at each possible type for itself. */
  readonly isExpanded: boolean;
  readonly copies: number;
}

/**
 * Size of an operation for the query planner: a selection set counts once for each type that its value can be, and those
 * below it for each of these again. Planning takes time with the square of it, and goes on after it is aborted: nested
 * interfaces of a short document would take hours. Ends at the first count above `max`. Requires a valid document whose
 * expanded size is bounded.
 */
export function countPlannedSelections(
  types: SupergraphTypes,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  max: number,
): number {
  const fragments = collectFragments(document);
  let count = 0;

  function visitValue(set: SelectionSetNode, type: string, copies: number): void {
    const isExpanded = types.sharedTypes.has(type);
    const value = { type, possible: listPossible(types, type), isExpanded, copies };
    count += countCopies(value);
    visitSet(set, value);
  }

  function visitSet({ selections }: SelectionSetNode, value: PlannedValue): void {
    for (const selection of selections) {
      if (count > max) return;
      if (selection.kind === Kind.FIELD) {
        const type = types.findFieldType(value.type, selection.name.value);
        if (selection.selectionSet && type !== undefined) visitValue(selection.selectionSet, type, countCopies(value));
        continue;
      }
      const part = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value)!;
      visitSet(part.selectionSet, narrow(types, value, part.typeCondition?.name.value ?? value.type));
    }
  }

  const root = types.schema.getRootType(operation.operation)!.name;
  visitValue(operation.selectionSet, root, 1);
  return count;
}

const listPossible = ({ possibleTypes }: SupergraphTypes, type: string): ReadonlySet<string> =>
  possibleTypes.get(type) ?? new Set([type]);

const countCopies = ({ copies, possible, isExpanded }: PlannedValue): number =>
  copies * (isExpanded ? Math.max(1, possible.size) : 1);

function narrow(types: SupergraphTypes, value: PlannedValue, type: string): PlannedValue {
  if (type === value.type) return value;
  const condition = listPossible(types, type);
  const possible = new Set([...value.possible].filter(name => condition.has(name)));
  return { type, possible, isExpanded: value.isExpanded || types.sharedTypes.has(type), copies: value.copies };
}
