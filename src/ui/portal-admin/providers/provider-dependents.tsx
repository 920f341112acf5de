import { FactList } from '../../kit/card.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.providers;
const kinds = ['Products', 'Plans', 'Requests', 'Credentials'] as const;

/** Consequence of a deletion with the objects that it removes. */
export function ProviderDependents({ providerId }: { readonly providerId: string }) {
  const read = useOperation('GET /portal-api/providers/{provider_id}/contents', {
    params: { provider_id: providerId },
  });
  const dependents = read.data?.value;
  return (
    <div className="flex flex-col gap-3">
      <p>{own.deleteConsequence}</p>
      {!dependents && <QueryState query={read} />}
      {dependents && (
        <FactList
          rows={kinds.map(kind => {
            const { Total, Names } = dependents[kind];
            const rest = Total > Names.length ? [own.more(Total - Names.length)] : [];
            return [own.dependents[kind], Total === 0 ? '0' : `${Total}: ${[...Names, ...rest].join(', ')}`] as const;
          })}
        />
      )}
    </div>
  );
}
