import { useRouter } from '@tanstack/react-router';
import { toActionText } from '../../kit/action-text.ts';
import { MethodBadge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { FactList } from '../../kit/card.tsx';
import { IdText } from '../../kit/copy.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { formatTime } from '../../kit/format.ts';
import { OutcomePill } from '../../kit/outcome-pill.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { type AuditRecordView, findObjectPage } from './audit-filters.ts';
import { RecordedChange } from './recorded-change.tsx';

const own = texts.audit;
const maxIdChars = 40;

interface AuditDetailProps {
  readonly id: string;
  onClose(): void;
  onFilter(change: { readonly user?: string; readonly q?: string }): void;
}

/** One record; its address can be shared. */
export function AuditDetail({ id, onClose, onFilter }: AuditDetailProps) {
  const query = useOperation('GET /api/audit-logs/{auditLogId}', { params: { auditLogId: id } });
  return (
    <Dialog isOpen onClose={onClose} title={own.detail} width="wide">
      {query.data ? <Detail record={query.data.value} onFilter={onFilter} /> : <QueryState query={query} />}
    </Dialog>
  );
}

interface DetailProps extends Pick<AuditDetailProps, 'onFilter'> {
  readonly record: AuditRecordView;
}

function Detail({ record, onFilter }: DetailProps) {
  const router = useRouter();
  const page = findObjectPage(record);
  return (
    <div className="flex flex-col gap-5">
      <FactList
        rows={[
          [own.columns.action, `${toActionText(record.action)} (${record.action})`],
          [own.columns.outcome, <OutcomePill key="outcome" status={record.status} />],
          [own.columns.time, formatTime(record.timestamp * 1000)],
          [own.columns.user, record.user],
          [own.columns.ip, record.ip],
          [
            own.path,
            <span key="path" className="flex flex-wrap items-center gap-2">
              <MethodBadge method={record.method} />
              <code className="font-mono text-small break-all">{record.url}</code>
            </span>,
          ],
          ...(record.object_name ? [[own.objectName, record.object_name] as const] : []),
          [own.columns.object, record.object ? <IdText key="object" id={record.object} maxChars={maxIdChars} /> : '–'],
          [own.surface, record.surface],
          [own.request, <IdText key="request" id={record.req_id} maxChars={maxIdChars} />],
        ]}
      />
      <RecordedChange record={record} />
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => onFilter({ user: record.user })}>{own.sameUser}</Button>
        <Button onClick={() => onFilter({ q: record.url })}>{own.sameObject}</Button>
        {page && (
          <Button kind="primary" onClick={() => router.history.push(page)}>
            {own.openObject}
          </Button>
        )}
      </div>
    </div>
  );
}
