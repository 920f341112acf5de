import { summarize } from '#apis/api/rules.ts';
import { type DefinitionOfKind, emptyWrapper, type StoredApi } from '#apis/api/schema.ts';
import type { CheckedObject, Kind, StoredObject } from './kind.ts';

interface Write {
  readonly object: CheckedObject;
  readonly before: StoredObject | undefined;
}

/**
 * Order of writes inside a kind. An API that takes the route of another one is written after that one has moved, and a
 * version after its base. Two APIs that exchange their routes have no such order: the first is refused.
 */
export function orderWrites(kind: Kind, writes: readonly Write[]): readonly Write[] {
  if (kind.name !== 'api') return writes;
  const updates = writes.filter(({ before }) => before);
  const creations = writes.filter(({ before }) => !before);
  const hasVersions = ({ object }: Write) => Object.keys(summaryOf(object).versions).length > 0;
  return [...orderMoves(updates), ...creations.filter(hasVersions), ...creations.filter(write => !hasVersions(write))];
}

const summaryOf = ({ spec }: Pick<CheckedObject, 'spec'>) =>
  summarize({ kind: spec.format, definition: spec.definition } as unknown as DefinitionOfKind, emptyWrapper);

const routeOf = ({ domain, listen_path }: StoredApi['summary']) => `${domain} ${listen_path}`;

/** Depth-first: before each write those that leave the route it takes. */
function orderMoves(updates: readonly Write[]): Write[] {
  const holders = new Map(updates.map(write => [routeOf((write.before!.source as StoredApi).summary), write]));
  const ordered = new Set<Write>();
  const visited = new Set<Write>();
  for (const start of updates) {
    const chain: Write[] = [];
    for (let write: Write | undefined = start; write && !visited.has(write); ) {
      visited.add(write);
      chain.push(write);
      write = holders.get(routeOf(summaryOf(write.object)));
    }
    for (const write of chain.reverse()) ordered.add(write);
  }
  return [...ordered];
}
