import { graphqlTexts } from '../../texts/en/graphql.ts';
import type { DefinitionDraft } from '../apis/designer/use-draft.ts';

/** Faults of the edited definition, with their places. */
export const SchemaFaultList = ({ faults }: { faults: DefinitionDraft['check']['faults'] }) =>
  faults.length === 0 ? null : (
    <div role="alert" className="rounded-control border border-danger-line bg-danger-soft px-3 py-2 text-danger">
      <p>{graphqlTexts.faults}</p>
      <ul className="list-disc pl-4">
        {faults.map(({ pointer, message }) => (
          <li key={`${pointer} ${message}`} className="break-words">
            {pointer}: {message}
          </li>
        ))}
      </ul>
    </div>
  );
