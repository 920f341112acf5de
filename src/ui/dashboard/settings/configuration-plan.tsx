import { Badge, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { type Column, DataTable } from '../../kit/data-table.tsx';
import { formatNumber } from '../../kit/format.ts';
import { configurationFileTexts as own } from '../../texts/en/configuration-files.ts';

export type PlanReport = ResultOf<'POST /api/configuration/plan'>['Meta'];
type Change = PlanReport['changes'][number];

const maxMembersShown = 5;
const maxNoticesShown = 20;
const tones: Readonly<Record<Change['action'], Tone>> = { create: 'success', update: 'neutral', delete: 'danger' };

const Members = ({ members = [], more_members: more = 0 }: Pick<Change, 'members' | 'more_members'>) => {
  const left = members.length + more - maxMembersShown;
  return (
    <span className="font-mono text-small break-all">
      {members
        .slice(0, maxMembersShown)
        .map(({ path }) => path)
        .join(', ')}
      {left > 0 && ` ${own.more(formatNumber(left))}`}
    </span>
  );
};

const columns: readonly Column<Change>[] = [
  {
    id: 'action',
    title: own.columns.action,
    cell: ({ action }) => <Badge tone={tones[action]}>{own.actions[action]}</Badge>,
  },
  { id: 'kind', title: own.columns.kind, cell: ({ kind }) => kind },
  { id: 'id', title: own.columns.id, cell: ({ id }) => <code className="font-mono text-small break-all">{id}</code> },
  { id: 'members', title: own.columns.members, cell: change => <Members {...change} /> },
];

interface ConfigurationPlanProps {
  readonly report: PlanReport;
  readonly counts: string;
  onApply(): void;
}

/** Changes of an import, and the button that makes them. */
export function ConfigurationPlan({ report, counts, onApply }: ConfigurationPlanProps) {
  const { changes, unchanged, traffic, notices } = report;
  return (
    <div className="flex flex-col gap-3">
      <p role="status">
        {changes.length === 0 ? own.noChanges : `${counts}.`} {own.unchanged(formatNumber(unchanged))}
      </p>
      {traffic.apis > 0 && <p>{own.traffic(formatNumber(traffic.apis), formatNumber(traffic.keys))}</p>}
      {notices.length > 0 && (
        <ul className="list-disc pl-5 text-dim">
          {notices.slice(0, maxNoticesShown).map(notice => (
            <li key={notice} className="break-words">
              {notice}
            </li>
          ))}
          {notices.length > maxNoticesShown && <li>{own.more(formatNumber(notices.length - maxNoticesShown))}</li>}
        </ul>
      )}
      {changes.length > 0 && (
        <>
          <DataTable
            label={own.planTitle}
            rows={changes}
            columns={columns}
            idOf={({ kind, id }) => `${kind} ${id}`}
            nameOf={({ kind, id }) => `${kind} ${id}`}
          />
          <Button kind="primary" className="self-start" onClick={onApply}>
            {own.apply}
          </Button>
        </>
      )}
    </div>
  );
}
