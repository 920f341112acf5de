import { Link } from '@tanstack/react-router';
import { StatusPill } from '../../kit/badge.tsx';
import { buttonClass } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { systemTexts } from '../../texts/en/system.ts';
import { useNotifications } from '../shell/use-notifications.ts';

const own = systemTexts;

const readApiId = (data: unknown): string | undefined => {
  const { api_id: id } = Object(data) as { readonly api_id?: unknown };
  return typeof id === 'string' && id !== '' ? id : undefined;
};

/** Notifications that need attention: APIs that are not served, certificates, dead letters. */
export function NoticeList() {
  const query = useNotifications(true);
  const items = query.data?.value.notifications ?? [];
  return (
    <Card title={own.notices}>
      {!query.data && <QueryState query={query} lines={2} />}
      {query.data && items.length === 0 && <p className="text-dim">{own.noNotices}</p>}
      <ul className="flex flex-col">
        {items.map(({ id, topic, kind, title, message, created_at, data }) => {
          const apiId = topic === 'api.not_served' ? readApiId(data) : undefined;
          return (
            <li
              key={id}
              className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-2 last:border-0"
            >
              <StatusPill tone={kind === 'critical' ? 'danger' : 'warning'}>{title}</StatusPill>
              <span className="min-w-0 grow basis-60 break-words">{message}</span>
              <TimeText time={created_at} />
              {apiId !== undefined && (
                <Link to="/apis/$apiId" params={{ apiId }} className={buttonClass()}>
                  {own.openApi}
                </Link>
              )}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
