import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../kit/button.tsx';
import { DataTable } from '../../kit/data-table.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { createKeyColumns } from '../keys/key-columns.tsx';
import { nameKey, toKeyFacts } from '../keys/key-facts.ts';

const own = texts.policies;
const shownColumns = ['alias', 'key', 'state', 'created'];

/** Newest keys with the policy; all of them are a filter of the list of keys. */
export function PolicyKeys({ policyId }: { policyId: string }) {
  const list = useOperation('GET /api/keys/detailed', { query: { policy_id: policyId } });
  if (!list.data) return <QueryState query={list} />;
  const rows = list.data.value.keys.map(toKeyFacts);
  if (rows.length === 0) return <p className="text-dim">{own.noKeys}</p>;
  return (
    <div className="flex flex-col items-start gap-3">
      <div className="w-full">
        <DataTable
          label={own.tabs.keys}
          rows={rows}
          columns={createKeyColumns({ nameOfPolicy: id => id, nameOfApi: id => id }).filter(({ id }) =>
            shownColumns.includes(id),
          )}
          idOf={({ hash }) => hash}
          nameOf={nameKey}
        />
      </div>
      <Link to="/keys" search={{ policy_id: policyId }} className={buttonClass()}>
        {own.allKeys}
      </Link>
    </div>
  );
}
