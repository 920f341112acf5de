import type { ReadRoute } from '../../kit/calls.ts';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';

const own = texts.pickers;
type DependentsRoute = Extract<ReadRoute, `${string}/dependents`>;

export interface DependentsProps {
  readonly route: DependentsRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** The most objects that a confirmation names. */
const maxNamed = 10;

/** Objects that depend on another, for its confirmation: the first by name, the rest by number. */
export function DependentsList({ route, params }: DependentsProps) {
  const { data, error } = useOperation(route, { params });
  if (error) return <p>{own.dependentsUnknown(error.message)}</p>;
  if (!data) return <p>{texts.kit.loading}</p>;
  const { dependents, total } = data.value;
  if (total === 0) return <p>{own.noDependents}</p>;
  const named = dependents.slice(0, maxNamed);
  return (
    <div className="flex flex-col gap-1">
      <p>{own.dependents(total)}</p>
      <ul className="list-disc pl-5">
        {named.map(({ kind, id, name }) => (
          <li key={`${kind} ${id}`} className="break-words text-ink">
            {own.dependent(own.kinds[kind] ?? kind, name || id)}
          </li>
        ))}
        {total > named.length && <li>{own.moreDependents(total - named.length)}</li>}
      </ul>
    </div>
  );
}
