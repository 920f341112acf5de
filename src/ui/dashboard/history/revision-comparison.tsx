import { X } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { CodeDiff } from '../../kit/code-editor.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TabPanels } from '../../kit/tab-panels.tsx';
import { texts } from '../../texts/texts.ts';
import { type RevisedObject, toHistoryRoutes } from './revised-kinds.ts';

const own = texts.history;

type Change = ResultOf<'GET /api/revisions/apis/{apiId}/compare'>['changes'][number];

interface ComparisonProps {
  readonly object: RevisedObject;
  readonly from: number;
  readonly to: number;
  onClose(): void;
}

/** Differences of two revisions: the changed members, or both documents. */
export function RevisionComparison({ object, from, to, onClose }: ComparisonProps) {
  const [view, setView] = useState('members');
  const { compare, params } = toHistoryRoutes(object);
  const query = useOperation(compare, { params, query: { from, to } });
  return (
    <Card title={own.comparison(from, to)} action={<IconButton icon={X} label={texts.kit.close} onClick={onClose} />}>
      {query.data ? (
        <TabPanels
          label={own.comparison(from, to)}
          value={view}
          onChange={setView}
          panels={[
            { id: 'members', label: own.members, content: <RevisionChanges changes={query.data.value.changes} /> },
            { id: 'documents', label: own.documents, content: <Documents object={object} from={from} to={to} /> },
          ]}
        />
      ) : (
        <QueryState query={query} lines={3} />
      )}
    </Card>
  );
}

const toText = (value: unknown) => (value === undefined ? own.absent : JSON.stringify(value, null, 2));

/** Changed members with their values before and after. */
export const RevisionChanges = ({ changes }: { changes: readonly Change[] }) =>
  changes.length === 0 ? (
    <p className="text-dim">{own.noChanges}</p>
  ) : (
    <ul aria-label={own.changed} className="flex flex-col gap-3">
      {changes.map(({ path, before, after }) => (
        <li key={path} className="flex flex-col gap-1">
          <code className="font-mono text-small break-all">{path}</code>
          <div className="grid gap-2 min-[700px]:grid-cols-2">
            <Value label={own.before} text={toText(before)} className="bg-danger-soft" />
            <Value label={own.after} text={toText(after)} className="bg-success-soft" />
          </div>
        </li>
      ))}
    </ul>
  );

const Value = ({ label, text, className }: { label: string; text: string; className: string }) => (
  <div className={`rounded-control px-2 py-1 ${className}`}>
    <span className="text-small text-ink">{label}</span>
    <pre className="font-mono text-small break-all whitespace-pre-wrap">{text}</pre>
  </div>
);

function Documents({ object, from, to }: Omit<ComparisonProps, 'onClose'>) {
  const { get, params } = toHistoryRoutes(object);
  const older = useOperation(get, { params: { ...params, revision: from } });
  const newer = useOperation(get, { params: { ...params, revision: to } });
  if (!older.data) return <QueryState query={older} />;
  if (!newer.data) return <QueryState query={newer} />;
  const [before, after] = [older, newer].map(it => JSON.stringify(it.data!.value.state, null, 2));
  return <CodeDiff label={own.comparison(from, to)} before={before!} after={after!} />;
}
