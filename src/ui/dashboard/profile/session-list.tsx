import { Badge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.profile;
const refreshed = ['GET /api/users/{userId}/sessions'] as const;

interface SessionListProps {
  readonly userId: string;
  readonly canEnd: boolean;
  /** The user of this session: the current one stays. */
  readonly isOwn: boolean;
}

/** Browser sessions of a user. */
export function SessionList({ userId, canEnd, isOwn }: SessionListProps) {
  const toasts = useToasts();
  const query = useOperation('GET /api/users/{userId}/sessions', { params: { userId } });
  const one = useWrite('DELETE /api/users/{userId}/sessions/{sessionId}', refreshed);
  const all = useWrite('DELETE /api/users/{userId}/sessions', refreshed);
  const finish = (text: string) => ({
    onSuccess: () => toasts.showSuccess(text),
    onError: (error: Error) => toasts.showError(error.message),
  });
  if (!query.data) return <QueryState query={query} lines={3} />;
  const { sessions } = query.data.value;
  const hasOthers = sessions.some(({ current }) => !current);
  return (
    <Card
      title={own.sessions}
      action={
        canEnd &&
        hasOthers && (
          <Button
            isBusy={all.isPending}
            onClick={() => all.mutate({ given: { params: { userId } } }, finish(own.sessionsEnded))}
          >
            {isOwn ? own.endOthers : own.endAll}
          </Button>
        )
      }
    >
      {sessions.length === 0 && <p className="text-dim">{own.noSessions}</p>}
      <ul className="flex flex-col gap-3">
        {sessions.map(({ id, user_agent, client, address, last_seen_at, current }) => (
          <li key={id} className="flex flex-wrap items-center gap-3">
            <div className="mr-auto min-w-0">
              <p className="break-words" title={user_agent}>
                {client || own.unknownBrowser}
              </p>
              <p className="text-small text-dim">
                {own.sessionFrom(address)}, {own.lastSeen} <TimeText time={last_seen_at} />
              </p>
            </div>
            {current && <Badge tone="info">{own.thisSession}</Badge>}
            {canEnd && !current && (
              <Button
                kind="quiet"
                onClick={() => one.mutate({ given: { params: { userId, sessionId: id } } }, finish(own.sessionEnded))}
              >
                {own.endSession}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
