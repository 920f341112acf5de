import type { CheckedObject, Kind, PlannedWrite } from './kind.ts';
import { summarizeSpec } from './kinds/api-summary.ts';

/**
 * Order of writes inside a kind. APIs that change come before new ones, which may take a route that they leave, and a
 * base before its versions.
 */
export function orderWrites(kind: Kind, writes: readonly PlannedWrite[]): readonly PlannedWrite[] {
  if (kind.name !== 'api') return writes;
  const updates = writes.filter(({ before }) => before);
  const creations = writes.filter(({ before }) => !before);
  const hasVersions = ({ object }: { object: CheckedObject }) =>
    Object.keys(summarizeSpec(object.spec).versions).length > 0;
  return [...updates, ...creations.filter(hasVersions), ...creations.filter(write => !hasVersions(write))];
}
