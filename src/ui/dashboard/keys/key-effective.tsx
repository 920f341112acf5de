import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Badge } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import { callServer } from '../../kit/calls.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { IdText } from '../../kit/copy.tsx';
import { Disclosure } from '../../kit/disclosure.tsx';
import { formatNumber } from '../../kit/format.ts';
import { Meter } from '../../kit/meter.tsx';
import { ErrorText, Skeleton } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { texts } from '../../texts/texts.ts';
import { useApiNames } from '../pickers/api-picker.tsx';
import { usePermission } from '../session/session.ts';
import { EffectiveTable, type NameOfPolicy, SourceBadges } from './effective-table.tsx';
import { type EffectiveApi, listEffectiveApis, listLimitRows, toValueMap } from './effective-values.ts';
import { type KeyData, type KeyFacts, nameKey } from './key-facts.ts';

const own = texts.keys;
/** APIs with a section of their own. */
const maxApis = 100;

interface KeyViewProps {
  readonly facts: KeyFacts;
  readonly data: KeyData;
  readonly nameOfPolicy: NameOfPolicy;
}

/** Effective values, as the gateway enforces them, each with its origin. */
export function KeyEffective({ facts, data, nameOfPolicy }: KeyViewProps) {
  const query = useQuery({
    queryKey: ['POST /api/keys/preview', facts.hash, data],
    queryFn: async ({ signal }) =>
      (await callServer('POST /api/keys/preview', { query: { explain: '1' }, body: data }, { signal })).value,
  });
  const explanation = query.data?.explanation;
  const values = explanation && toValueMap(explanation);
  return (
    <div className="flex flex-col gap-4">
      <div className="grid gap-4 min-[1000px]:grid-cols-2">
        <Counters facts={facts} quotaMax={Number(values?.get('/quota_max')?.value ?? facts.quotaMax)} />
        <Facts facts={facts} />
      </div>
      {query.error && <ErrorText error={new Error(own.noExplanation(query.error.message))} />}
      {query.isPending && <Skeleton />}
      {values && (
        <>
          <Card title={own.limitsTitle}>
            <p className="mb-3 text-dim">{own.limitsAbout}</p>
            <EffectiveTable label={own.limitsTitle} rows={listLimitRows(values)} nameOfPolicy={nameOfPolicy} />
            {explanation?.is_complete === false && <p className="mt-3 text-warning">{own.incomplete}</p>}
          </Card>
          <Access apis={listEffectiveApis(values)} data={data} nameOfPolicy={nameOfPolicy} />
        </>
      )}
    </div>
  );
}

function Counters({ facts, quotaMax }: { facts: KeyFacts; quotaMax: number }) {
  const { quotaLeft, quotaRenews, hash } = facts;
  const canCount = usePermission('analytics');
  const canLog = usePermission('log');
  return (
    <Card title={own.counters}>
      <div className="flex flex-col gap-3">
        {quotaMax > 0 ? (
          <>
            <p>
              <span className="text-title">{formatNumber(quotaLeft)}</span>{' '}
              <span className="text-dim">{own.quotaLeft('', formatNumber(quotaMax)).trim()}</span>
            </p>
            <Meter label={own.quotaOf(nameKey(facts))} value={quotaLeft} max={quotaMax} />
            <p className="text-dim">
              {own.renewsAt} {quotaRenews > 0 ? <TimeText time={quotaRenews} /> : own.renewsFirst}
            </p>
          </>
        ) : (
          <p className="text-dim">{own.noQuota}</p>
        )}
        <div className="flex flex-wrap gap-2">
          {canCount && (
            <Link to="/analytics" search={{ key: hash }} className={buttonClass()}>
              {own.usage}
            </Link>
          )}
          {canLog && (
            <Link to="/logs" search={{ key: hash }} className={buttonClass()}>
              {own.logs}
            </Link>
          )}
        </div>
      </div>
    </Card>
  );
}

const Facts = ({ facts }: { facts: KeyFacts }) => (
  <Card title={own.facts}>
    <FactList
      rows={[
        [own.hash, <IdText key="hash" id={facts.hash} maxChars={32} />],
        [own.expiresAt, <TimeText key="expires" time={facts.expires} />],
        [own.columns.created, <TimeText key="created" time={facts.createdAt} />],
        [own.tags, facts.tags.join(', ') || texts.kit.none],
      ]}
    />
  </Card>
);

interface AccessProps {
  readonly apis: readonly EffectiveApi[];
  readonly data: KeyData;
  readonly nameOfPolicy: NameOfPolicy;
}

function Access({ apis, data, nameOfPolicy }: AccessProps) {
  const nameOfApi = useApiNames(apis.map(({ id }) => id));
  return (
    <Card title={own.accessTitle}>
      <p className="text-dim">{apis.length === 0 ? own.noAccess : own.accessAbout(apis.length)}</p>
      {apis.slice(0, maxApis).map(api => (
        <Disclosure
          key={api.id}
          className="border-t border-line py-2 first-of-type:mt-3"
          summary={
            <>
              <span className="font-medium">{data.access_rights?.[api.id]?.api_name || nameOfApi(api.id)}</span>
              <SourceBadges sources={api.sources} nameOfPolicy={nameOfPolicy} isLinked={false} />
              {api.versions.length > 0 && <Badge>{api.versions.join(', ')}</Badge>}
            </>
          }
        >
          <div className="flex flex-col gap-3 pt-3 pl-6">
            <FactList rows={[[own.names.allowedUrls, api.paths.join('; ') || own.everyPath]]} />
            {api.limits.length > 0 && (
              <EffectiveTable label={`${own.limitsTitle}: ${api.id}`} rows={api.limits} nameOfPolicy={nameOfPolicy} />
            )}
          </div>
        </Disclosure>
      ))}
      {apis.length > maxApis && <p className="text-dim">{own.moreApis(apis.length - maxApis)}</p>}
    </Card>
  );
}
