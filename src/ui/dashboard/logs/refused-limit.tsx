import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../kit/button.tsx';
import { callServer } from '../../kit/calls.ts';
import { ErrorText, Skeleton } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { EffectiveTable } from '../keys/effective-table.tsx';
import { listLimitRows, toValueMap } from '../keys/effective-values.ts';
import { usePolicyNames } from '../pickers/policy-picker.tsx';
import { usePermission } from '../session/session.ts';
import { hasKey } from './log-columns.tsx';
import type { TailedRequest } from './log-filters.ts';

const own = texts.logs;
const keyLimits: ReadonlySet<string> = new Set(['rate_exceeded', 'quota_exceeded']);

/** Limit that refused a request: that of its key, or the place where that of the API is set. */
export function RefusedLimit({ call }: { call: TailedRequest }) {
  const canReadKeys = usePermission('keys');
  const canReadApis = usePermission('apis');
  if (call.refusal === 'api_rate_exceeded' && canReadApis)
    return (
      <Link
        to="/apis/$apiId/settings"
        params={{ apiId: call.api_id }}
        search={{ section: 'limits' }}
        className="text-accent-ink underline"
      >
        {own.openLimits}
      </Link>
    );
  return keyLimits.has(call.refusal) && hasKey(call) && canReadKeys ? <KeyLimits call={call} /> : null;
}

/** Limits of the key for this API, as they are now: the request has no copy of them. */
function KeyLimits({ call: { api_key: keyId, api_id: apiId } }: { call: TailedRequest }) {
  const query = useQuery({
    queryKey: ['POST /api/keys/preview', 'limits', keyId],
    queryFn: async ({ signal }) => {
      const given = { params: { keyId }, query: { hashed: 'true' } };
      const { data } = (await callServer('GET /api/keys/{keyId}', given, { signal })).value;
      return (await callServer('POST /api/keys/preview', { query: { explain: '1' }, body: data }, { signal })).value;
    },
  });
  const nameOfPolicy = usePolicyNames(query.data?.data.apply_policies ?? []);
  if (query.error) return <ErrorText error={query.error} />;
  const explanation = query.data?.explanation;
  if (!explanation) return <Skeleton lines={2} />;
  const values = toValueMap(explanation);
  const ofApi = listLimitRows(values, apiId);
  return (
    <section aria-label={own.keyLimits} className="flex flex-col items-start gap-2">
      <h3 className="text-body">{own.keyLimits}</h3>
      <EffectiveTable
        label={own.keyLimits}
        rows={ofApi.length > 0 ? ofApi : listLimitRows(values)}
        nameOfPolicy={nameOfPolicy}
      />
      <Link to="/keys/$keyHash" params={{ keyHash: keyId }} className={buttonClass()}>
        {own.openKey}
      </Link>
    </section>
  );
}
