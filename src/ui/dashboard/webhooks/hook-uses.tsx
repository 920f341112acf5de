import { Link } from '@tanstack/react-router';
import { useBatchedOperation } from '../../kit/queries.ts';
import { listColumnTexts as own } from '../../texts/en/list-columns.ts';

const maxShown = 3;

interface HookUsesProps {
  readonly hookId: string;
  /** Ids of the page: one request reads their uses together, and equal reads of its cells share it. */
  readonly hookIds: readonly string[];
}

/** APIs whose events name a webhook. */
export function HookUses({ hookId, hookIds }: HookUsesProps) {
  const pages = useBatchedOperation('GET /api/hooks/uses', hookIds, ids => ({ query: { ids } }));
  const uses = pages?.flatMap(({ hooks }) => hooks).find(it => it.hook_id === hookId);
  if (!uses) return null;
  const { apis, total } = uses;
  if (total === 0) return <span className="text-dim">{own.noApi}</span>;
  const shown = apis.slice(0, maxShown);
  return (
    <ul className="flex flex-col">
      {shown.map(({ id, name }) => (
        <li key={id}>
          <Link to="/apis/$apiId" params={{ apiId: id }} className="row-link break-words">
            {name || id}
          </Link>
        </li>
      ))}
      {total > shown.length && <li className="text-dim">{own.moreApis(total - shown.length)}</li>}
    </ul>
  );
}
