import { Link } from '@tanstack/react-router';
import { Boxes, Lock } from 'lucide-react';
import { toActionText } from '../../kit/action-text.ts';
import { buttonClass } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { Notice, QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission, useSession } from '../session/session.ts';
import { useNotifications } from '../shell/use-notifications.ts';
import { NoticeList } from '../system/notice-list.tsx';
import { TrafficCards } from './traffic-cards.tsx';

const own = texts.home;

/** Traffic and changes of the last day; cards whose permission is missing are absent. */
export function HomePage() {
  const canReadApis = usePermission('apis');
  const canReadUsage = usePermission('analytics');
  const canReadAudit = usePermission('audit_logs');
  const canReadNotices = usePermission('websockets');
  const { permissions, user } = useSession();
  const changes = canReadAudit && <RecentChanges />;
  const hasNone = Object.values(permissions).every(level => level === 'deny');
  return (
    <PageFrame title={own.title}>
      <div className="flex flex-col gap-4">
        {hasNone && (
          <Notice icon={Lock} title={own.noPermissions}>
            {own.noPermissionsAbout(user.email_address)}
          </Notice>
        )}
        {canReadApis && <FirstApi />}
        {canReadNotices && <OpenNotices />}
        {canReadUsage ? <TrafficCards>{changes}</TrafficCards> : changes}
      </div>
    </PageFrame>
  );
}

/** Notifications that need attention; absent while there are none. */
function OpenNotices() {
  const { data } = useNotifications(true);
  return data && data.value.notifications.length > 0 ? <NoticeList /> : null;
}

/** Leads to the introduction as long as there is no API. */
function FirstApi() {
  const canWrite = usePermission('apis:write');
  const { data } = useOperation('GET /api/apis', { query: {} });
  if (!data || data.value.apis.length > 0 || !canWrite) return null;
  return (
    <Card>
      <Notice
        icon={Boxes}
        title={own.start}
        action={
          <div className="flex flex-wrap justify-center gap-2">
            <Link to="/welcome" className={buttonClass('primary')}>
              {own.startAction}
            </Link>
            <Link to="/apis/new" className={buttonClass()}>
              {own.startWithout}
            </Link>
          </div>
        }
      >
        {own.startAbout}
      </Notice>
    </Card>
  );
}

const maxChanges = 10;

/** Audited, and nothing that colleagues would call a change. */
const trials = [
  'signIn',
  'signOut',
  'updatePreferences',
  'explainCall',
  'debugDefinition',
  'previewKey',
  'checkApi',
  'searchWithBody',
  'authenticate',
].join(',');
/** Refused attempts are among them. */
const maxRecords = 100;

function RecentChanges() {
  const query = useOperation('GET /api/audit-logs', { query: { except_action: trials, page_size: maxRecords } });
  const items = (query.data?.value.audit_logs ?? []).filter(({ status }) => status < 400).slice(0, maxChanges);
  return (
    <Card title={own.changes}>
      {query.data ? (
        <ul className="flex flex-col">
          {items.length === 0 && <li className="text-dim">{own.noChanges}</li>}
          {items.map(({ _id, action, user, object, timestamp }) => (
            <li key={_id} className="flex flex-wrap gap-x-3 border-b border-line py-1.5 last:border-0">
              <span className="font-medium">{toActionText(action)}</span>
              <code className="font-mono text-small break-all text-dim">{object}</code>
              <span className="ml-auto break-all text-dim">
                {user}, <TimeText time={timestamp} />
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <QueryState query={query} lines={4} />
      )}
    </Card>
  );
}
