import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callServer } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { ErrorText, Skeleton } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { EffectiveTable, SourceBadges } from '../keys/effective-table.tsx';
import { listEffectiveApis, listLimitRows, toValueMap } from '../keys/effective-values.ts';
import { PolicyPicker } from '../pickers/policy-picker.tsx';

const own = texts.policies;

interface PolicyMergeProps {
  readonly policyId: string;
  readonly name: string;
}

/** Merge with other policies: the server computes the values of a key that has all of them. */
export function PolicyMerge({ policyId, name }: PolicyMergeProps) {
  const [others, setOthers] = useState<readonly PickItem[]>([]);
  const added = others.filter(({ id }) => id !== policyId);
  const ids = [policyId, ...added.map(({ id }) => id)];
  const names = new Map([[policyId, name], ...added.map(it => [it.id, it.name] as const)]);
  const query = useQuery({
    queryKey: ['POST /api/keys/preview', ids],
    queryFn: async ({ signal }) => {
      const given = { query: { explain: '1' as const }, body: { apply_policies: ids } };
      return (await callServer('POST /api/keys/preview', given, { signal })).value;
    },
  });
  const values = query.data?.explanation && toValueMap(query.data.explanation);
  const nameOfPolicy = (id: string) => names.get(id) || id;
  return (
    <div className="grid items-start gap-4 min-[1100px]:grid-cols-[320px_1fr]">
      <Card title={own.mergeWith}>
        <PolicyPicker title={own.mergeAbout} chosen={added} onChange={setOthers} />
      </Card>
      <Card title={own.merged}>
        <ErrorText error={query.error} />
        {query.isPending && <Skeleton />}
        {values && (
          <div className="flex flex-col gap-6">
            <EffectiveTable label={own.merged} rows={listLimitRows(values)} nameOfPolicy={nameOfPolicy} />
            {listEffectiveApis(values).map(api => (
              <section key={api.id} className="flex flex-col gap-2">
                <h3 className="flex flex-wrap items-center gap-2">
                  {query.data?.data.access_rights?.[api.id]?.api_name || api.id}
                  <SourceBadges sources={api.sources} nameOfPolicy={nameOfPolicy} />
                </h3>
                <EffectiveTable label={api.id} rows={api.limits} nameOfPolicy={nameOfPolicy} />
              </section>
            ))}
          </div>
        )}
      </Card>
    </div>
  );
}
