import { StatusPill } from '../../kit/badge.tsx';
import { Card } from '../../kit/card.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { describeCounts } from './use-synchronization.ts';

const own = adminTexts.providers;

/** The last synchronisations with their results, newest first. */
export function SyncHistory({ providerId }: { readonly providerId: string }) {
  const read = useOperation('GET /portal-api/providers/{provider_id}/synchronizations', {
    params: { provider_id: providerId },
  });
  const runs = read.data?.value;
  // Several runs may have the same minute.
  const numbered = (runs ?? []).map((run, place) => ({ ...run, id: place }));
  return (
    <Card title={own.history}>
      {!runs && <QueryState query={read} />}
      {runs?.length === 0 && <p className="text-dim">{own.noHistory}</p>}
      <ul className="flex flex-col gap-2">
        {numbered.map(({ id, At, Error: reason, Products, Plans }) => (
          <li key={id} className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
            <span className="whitespace-nowrap text-dim">{At}</span>
            {reason === '' ? (
              <span>{describeCounts(Products, Plans) || own.nothingChanged}</span>
            ) : (
              <>
                <StatusPill tone="danger">{own.results.failed}</StatusPill>
                <span className="min-w-0 break-words">{reason}</span>
              </>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
