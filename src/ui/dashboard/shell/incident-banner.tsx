import { Link, useRouterState } from '@tanstack/react-router';
import { CircleAlert } from 'lucide-react';
import { Button, buttonClass } from '../../kit/button.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { type Notification, SubjectLink } from './subject-link.tsx';
import { useNotifications } from './use-notifications.ts';

const own = texts.shell.incident;
/** The page that lists all of them. */
const listPath = '/system';

/** The first unread critical notification above every page, until its cause ends or it is marked as read. */
export function IncidentBanner() {
  const { data } = useNotifications(usePermission('websockets'));
  const path = useRouterState({ select: state => state.location.pathname });
  const unread = (data?.value.notifications ?? []).filter(({ kind, read }) => kind === 'critical' && !read);
  const [first] = unread;
  if (!first || path === listPath) return null;
  return <Incident incident={first} others={unread.length - 1} />;
}

function Incident({ incident, others }: { incident: Notification; others: number }) {
  const toasts = useToasts();
  const canSeeAll = usePermission('system');
  const { mutate, isPending } = useWrite('PUT /api/notifications/read', ['GET /api/notifications']);
  const mark = () =>
    mutate({ given: { body: { ids: [incident.id] } } }, { onError: error => toasts.showError(error.message) });
  return (
    <section
      aria-label={own.label}
      className={
        'mb-4 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-card border border-danger-line bg-danger-soft ' +
        'px-3 py-2 text-danger'
      }
    >
      <CircleAlert size={16} strokeWidth={1.5} className="shrink-0" aria-hidden />
      <p className="min-w-0 grow basis-60 break-words">
        <span className="font-medium">{incident.title}:</span> {incident.message}
      </p>
      {others > 0 && canSeeAll && (
        <Link to={listPath} className={buttonClass()}>
          {own.others(others)}
        </Link>
      )}
      <SubjectLink notification={incident} />
      <Button isBusy={isPending} onClick={mark}>
        {own.markRead}
      </Button>
    </section>
  );
}
