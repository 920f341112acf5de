import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { toActionText } from '../../kit/action-text.ts';
import { Disclosure } from '../../kit/disclosure.tsx';
import { formatNumber, formatTime } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { usageViewTexts as own } from '../../texts/en/usage-views.ts';
import type { AuditRecordView } from '../audit/audit-filters.ts';
import { usePermission } from '../session/session.ts';
import { changeActions } from './change-actions.ts';
import type { UsageScope } from './usage-filters.ts';

/** Largest page of the audit log. */
const maxMarks = 100;

export interface MarkedChanges {
  readonly records: readonly AuditRecordView[];
  readonly hasMore: boolean;
}

/** Changes of configuration in the time of a scope, the newest; none for users who may not read the audit log. */
export function useMarkedChanges({ start, end }: UsageScope): MarkedChanges {
  const canRead = usePermission('audit_logs');
  const query = { action: changeActions.join(','), start, end: end - 1, page_size: maxMarks };
  const read = useOperation('GET /api/audit-logs', { query }, { enabled: canRead, keepPrevious: true });
  const page = canRead && !read.isError ? read.data?.value : undefined;
  return useMemo(
    () => ({ records: (page?.audit_logs ?? []).filter(it => it.status < 400), hasMore: (page?.pages ?? 1) > 1 }),
    [page],
  );
}

/** List of the changes that the chart marks. */
export function MarkedChangeList({ changes: { records, hasMore } }: { changes: MarkedChanges }) {
  if (records.length === 0) return null;
  return (
    <Disclosure className="pt-2" summary={own.changes(formatNumber(records.length))}>
      <ul className="flex max-h-60 flex-col overflow-y-auto pt-1 pl-6">
        {records.map(({ _id, action, object, user, timestamp }) => (
          <li key={_id} className="flex flex-wrap items-baseline gap-x-3 border-b border-line py-1.5 last:border-0">
            <Link
              to="/audit"
              search={{ open: _id }}
              aria-label={own.openRecord(toActionText(action))}
              className="inline-flex min-h-6 items-center text-accent-ink hover:underline"
            >
              {toActionText(action)}
            </Link>
            <code className="font-mono text-small break-all text-dim">{object}</code>
            <span className="ml-auto break-all text-dim">
              {user}, {formatTime(timestamp * 1000)}
            </span>
          </li>
        ))}
      </ul>
      {hasMore && <p className="pt-1 pl-6 text-small text-dim">{own.changesCut(records.length)}</p>}
    </Disclosure>
  );
}
