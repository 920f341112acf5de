import { useNavigate, useParams } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { IconButton } from '../../kit/button.tsx';
import { Card, FactList } from '../../kit/card.tsx';
import { IdText } from '../../kit/copy.tsx';
import { Menu } from '../../kit/menu.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { ApiConfirmation, useApiActions } from './api-actions.tsx';
import { ApiHead } from './api-head.tsx';
import { type ApiOutline, toApiOutline } from './api-outline.ts';
import { ApiTraffic } from './api-traffic.tsx';
import { CallCard } from './call-card.tsx';

const own = texts.apis;

/** Overview of one API: a call of it, its traffic, facts. */
export function ApiPage() {
  const { apiId } = useParams({ from: '/shell/apis/$apiId' });
  const canReadUsage = usePermission('analytics');
  const query = useOperation('GET /api/apis/{apiId}', { params: { apiId } });
  if (!query.data) return <QueryState query={query} />;
  const api = toApiOutline(query.data.value);
  return (
    <ApiHead api={api} actions={<ApiMenu api={api} />}>
      <div className="grid gap-4 min-[1100px]:grid-cols-2 *:min-w-0">
        <CallCard api={api} item={query.data.value} />
        <Card title={own.facts}>
          <FactList
            rows={[
              [own.id, <IdText key="id" id={api.id} maxChars={32} />],
              [own.format, own.formats[api.format]],
              [
                own.columns.path,
                <code key="path" className="font-mono break-all">
                  {api.listenPath}
                </code>,
              ],
              ...(api.upstream
                ? [
                    [
                      own.upstream,
                      <code key="upstream" className="font-mono break-all">
                        {api.upstream}
                      </code>,
                    ] as const,
                  ]
                : []),
              [own.columns.authentication, api.authentication.map(it => own.authentication[it] ?? it).join(', ')],
              [own.createdAt, <TimeText key="created" time={api.createdAt} />],
              [own.updatedAt, <TimeText key="updated" time={api.updatedAt} />],
            ]}
          />
        </Card>
        <Warnings api={api} />
        {canReadUsage && <ApiTraffic apiId={api.id} />}
      </div>
    </ApiHead>
  );
}

function ApiMenu({ api }: { api: ApiOutline }) {
  const canWrite = usePermission('apis:write');
  const navigate = useNavigate();
  const actions = useApiActions(() => void navigate({ to: '/apis' }));
  if (!canWrite) return null;
  return (
    <>
      <Menu
        trigger={<IconButton icon={Ellipsis} kind="secondary" label={texts.kit.actionsOf(api.name)} />}
        items={actions.menuOf(api).slice(1)}
      />
      <ApiConfirmation actions={actions} />
    </>
  );
}

function Warnings({ api }: { api: ApiOutline }) {
  const { data } = useOperation('GET /api/apis/{apiId}/status', { params: { apiId: api.id } });
  const warnings = data?.value.warnings ?? [];
  if (warnings.length === 0) return null;
  return (
    <Card title={own.warnings}>
      <ul className="list-disc pl-4">
        {warnings.map(warning => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </Card>
  );
}
