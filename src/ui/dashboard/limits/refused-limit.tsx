import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../kit/button.tsx';
import { callServer } from '../../kit/calls.ts';
import { ErrorText, Skeleton } from '../../kit/states.tsx';
import { refusedLimitTexts } from '../../texts/en/refused-limit.ts';
import { texts } from '../../texts/texts.ts';
import { EffectiveTable } from '../keys/effective-table.tsx';
import { listLimitRows, toValueMap } from '../keys/effective-values.ts';
import { usePolicyNames } from '../pickers/policy-picker.tsx';
import { usePermission } from '../session/session.ts';
import { describeApiLimit, describeKeyLimit } from './describe-refused-limit.ts';

const own = texts.logs;
const keyLimits: ReadonlySet<string> = new Set(['rate_exceeded', 'quota_exceeded']);
const organisationLimits: ReadonlySet<string> = new Set(['organisation_rate_exceeded', 'organisation_quota_exceeded']);
const linkClass = 'self-start text-accent-ink underline';

export interface RefusedLimitProps {
  /** Code of the refusal. */
  readonly refusal: string;
  readonly apiId: string;
  /** Hash of the key; empty without one. */
  readonly keyHash: string;
  /** Settings of the refusing step, where an explanation has them. */
  readonly settings?: unknown;
}

/** Limit that refused a request, and where it is set: key and policies, API, or organisation. */
export function RefusedLimit({ refusal, apiId, keyHash, settings }: RefusedLimitProps) {
  const canReadKeys = usePermission('keys');
  if (refusal === 'api_rate_exceeded') return <ApiLimit apiId={apiId} settings={settings} />;
  if (organisationLimits.has(refusal)) return <OrganisationLimit />;
  if (!keyLimits.has(refusal) || keyHash === '' || !canReadKeys) return null;
  return <KeyLimits keyId={keyHash} apiId={apiId} refusal={refusal} />;
}

function ApiLimit({ apiId, settings }: Pick<RefusedLimitProps, 'apiId' | 'settings'>) {
  const canReadApis = usePermission('apis');
  const text = describeApiLimit(settings);
  return (
    <>
      {text && <p>{text}</p>}
      {canReadApis && (
        <Link to="/apis/$apiId/settings" params={{ apiId }} search={{ section: 'limits' }} className={linkClass}>
          {own.openLimits}
        </Link>
      )}
    </>
  );
}

const OrganisationLimit = () => (
  <>
    <p>{refusedLimitTexts.organisation}</p>
    <Link to="/settings" className={linkClass}>
      {refusedLimitTexts.openOrganisation}
    </Link>
  </>
);

interface KeyLimitsProps {
  readonly keyId: string;
  readonly apiId: string;
  readonly refusal: string;
}

/** Limits of the key for this API, as they are now: the request has no copy of them. */
function KeyLimits({ keyId, apiId, refusal }: KeyLimitsProps) {
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
  const rows = ofApi.length > 0 ? ofApi : listLimitRows(values);
  const text = describeKeyLimit(refusal, rows, nameOfPolicy);
  return (
    <section aria-label={own.keyLimits} className="flex flex-col items-start gap-2">
      {text && <p>{text}</p>}
      <h3 className="text-body">{own.keyLimits}</h3>
      <EffectiveTable label={own.keyLimits} rows={rows} nameOfPolicy={nameOfPolicy} />
      <Link to="/keys/$keyHash" params={{ keyHash: keyId }} className={buttonClass()}>
        {own.openKey}
      </Link>
    </section>
  );
}
