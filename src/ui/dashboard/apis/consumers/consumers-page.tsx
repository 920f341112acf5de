import { Link } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { useMemo } from 'react';
import { buttonClass } from '../../../kit/button.tsx';
import type { ResultOf } from '../../../kit/calls.ts';
import { Card, FactList } from '../../../kit/card.tsx';
import { IdText } from '../../../kit/copy.tsx';
import { type Column, DataTable } from '../../../kit/data-table.tsx';
import { formatNumber } from '../../../kit/format.ts';
import { useOperation } from '../../../kit/queries.ts';
import { Notice, QueryState } from '../../../kit/states.tsx';
import { texts } from '../../../texts/texts.ts';
import { usePermission } from '../../session/session.ts';
import { ApiFrame } from '../api-frame.tsx';
import type { ApiOutline } from '../api-outline.ts';

const own = texts.consumers;

type Dependent = ResultOf<'GET /api/apis/{apiId}/dependents'>['dependents'][number];

const createColumns = (apiId: string): readonly Column<Dependent>[] => [
  { id: 'kind', title: own.kind, cell: ({ kind }) => own.kinds[kind] ?? kind },
  { id: 'name', title: own.name, cell: ({ kind, id, name }) => <NameLink {...{ kind, id, name, apiId }} /> },
  { id: 'id', title: own.id, cell: ({ id }) => <IdText id={id} /> },
];

/** Name of a dependent, with a link to its page. */
function NameLink({ kind, id, name, apiId }: Dependent & { apiId: string }) {
  const text = name || id;
  const className = 'row-link';
  switch (kind) {
    case 'apis':
      return <Link {...{ className, to: '/apis/$apiId', params: { apiId: id } }}>{text}</Link>;
    case 'policies':
      return <Link {...{ className, to: '/policies/$policyId', params: { policyId: id } }}>{text}</Link>;
    case 'keys':
      return <Link {...{ className, to: '/keys/$keyHash', params: { keyHash: id } }}>{text}</Link>;
    case 'oauth clients':
      return (
        <Link {...{ className, to: '/oauth-clients/$apiId/$clientId', params: { apiId, clientId: id } }}>{text}</Link>
      );
    default:
      return text;
  }
}

/** Policies, keys, OAuth clients and APIs that name an API. */
export const ApiConsumersPage = () => <ApiFrame>{({ api }) => <Consumers key={api.id} api={api} />}</ApiFrame>;

function Consumers({ api }: { api: ApiOutline }) {
  const query = useOperation('GET /api/apis/{apiId}/dependents', { params: { apiId: api.id } });
  const canAddKey = usePermission('keys:write');
  const columns = useMemo(() => createColumns(api.id), [api.id]);
  if (!query.data) return <QueryState query={query} />;
  const { dependents, total } = query.data.value;
  const add = canAddKey && (
    <Link to="/keys/new" className={buttonClass()}>
      {texts.keys.create}
    </Link>
  );
  if (total === 0)
    return (
      <Notice icon={KeyRound} title={own.emptyTitle} action={add}>
        {own.emptyAbout}
      </Notice>
    );
  return (
    <div className="flex flex-col gap-4">
      <KeyCount api={api} />
      <DataTable
        label={own.list}
        rows={dependents}
        columns={columns}
        idOf={({ kind, id }) => `${kind} ${id}`}
        nameOf={({ name, id }) => name || id}
        toolbar={
          <div className="flex flex-wrap items-center justify-between gap-2">
            <p className="text-dim">{own.shown(dependents.length, total)}</p>
            {add}
          </div>
        }
      />
    </div>
  );
}

/** Keys that may call the API, by themselves or by a policy. */
function KeyCount({ api }: { api: ApiOutline }) {
  const canRead = usePermission('keys');
  const { data } = useOperation('GET /api/keys/counts', { query: { api_id: api.id } }, { enabled: canRead });
  if (!data) return null;
  return (
    <Card>
      <FactList rows={[[own.keyCount, formatNumber(data.value.apis[api.id] ?? 0)]]} />
    </Card>
  );
}
