import { StatusPill } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Switch } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { notificationTexts } from '../../texts/en/notifications.ts';
import { type Notification, SubjectLink } from './subject-link.tsx';
import { useNotifications } from './use-notifications.ts';

const own = notificationTexts;
const topics = Object.entries(own.topics) as [Notification['topic'], string][];
const reads = ['GET /api/notifications'] as const;

/** Notifications of the user: each leads to its object, is marked as read, and its topic can be muted. */
export default function NotificationList({ onLeave }: { onLeave(): void }) {
  const query = useNotifications(true);
  const { showError } = useToasts();
  const onError = (error: Error) => showError(error.message);
  const { mutate, isPending } = useWrite('PUT /api/notifications/read', reads);
  const mark = (ids: readonly string[]) => mutate({ given: { body: { ids: [...ids] } } }, { onError });
  const items = query.data?.value.notifications ?? [];
  const unread = items.filter(({ read }) => !read).map(({ id }) => id);
  return (
    <>
      <p className="mb-2 text-dim">{own.about}</p>
      {!query.data && <QueryState query={query} lines={2} />}
      {query.data && items.length === 0 && <p className="text-dim">{own.none}</p>}
      <ul className="flex flex-col">
        {items.map(it => (
          <li key={it.id} className="flex flex-col gap-2 border-b border-line py-3 last:border-0">
            <div className="flex flex-wrap items-center justify-between gap-2">
              <StatusPill tone={it.kind === 'critical' ? 'danger' : 'warning'}>{it.title}</StatusPill>
              <TimeText time={it.created_at} />
            </div>
            <p className={it.read ? 'text-dim break-words' : 'break-words'}>{it.message}</p>
            <div className="flex flex-wrap gap-2">
              <SubjectLink notification={it} onClick={onLeave} />
              {!it.read && (
                <Button isBusy={isPending} onClick={() => mark([it.id])}>
                  {own.markRead}
                </Button>
              )}
            </div>
          </li>
        ))}
      </ul>
      {unread.length > 1 && (
        <Button isBusy={isPending} onClick={() => mark(unread)}>
          {own.markAllRead}
        </Button>
      )}
      {query.data && <MutedTopics muted={query.data.value.muted_topics} onError={onError} />}
    </>
  );
}

interface MutedTopicsProps {
  readonly muted: ResultOf<'GET /api/notifications'>['muted_topics'];
  onError(error: Error): void;
}

function MutedTopics({ muted, onError }: MutedTopicsProps) {
  const { mutate, isPending } = useWrite('PUT /api/notifications/mutes', reads);
  const change = (topic: Notification['topic'], isMuted: boolean) =>
    mutate(
      { given: { body: { topics: [...muted.filter(it => it !== topic), ...(isMuted ? [topic] : [])] } } },
      { onError },
    );
  return (
    <fieldset className="mt-4 flex flex-col gap-2 border-t border-line pt-3">
      <legend className="sr-only">{own.topicsAbout}</legend>
      <p aria-hidden className="text-small text-dim">
        {own.topicsAbout}
      </p>
      {topics.map(([topic, label]) => (
        <Switch
          key={topic}
          label={label}
          checked={!muted.includes(topic)}
          disabled={isPending}
          onChange={event => change(topic, !event.currentTarget.checked)}
        />
      ))}
    </fieldset>
  );
}
