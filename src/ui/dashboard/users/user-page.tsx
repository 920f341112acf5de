import { useNavigate, useParams } from '@tanstack/react-router';
import { StatusPill } from '../../kit/badge.tsx';
import { Card, FactList } from '../../kit/card.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { texts } from '../../texts/texts.ts';
import { AccessKeyCard } from '../profile/access-key-card.tsx';
import { SessionList } from '../profile/session-list.tsx';
import { canUse, useSession } from '../session/session.ts';
import { UserActions } from './user-actions.tsx';
import { UserForm } from './user-form.tsx';

const own = texts.users;

/** One user: permissions, state, sessions. */
export function UserPage() {
  const { userId } = useParams({ from: '/shell/users/$userId' });
  const session = useSession();
  const navigate = useNavigate();
  const query = useOperation('GET /api/users/{userId}', { params: { userId } });
  if (!query.data) return <QueryState query={query} />;
  const { value: user, etag } = query.data;
  const canWrite = canUse(session, 'users:write');
  const canRenew = canWrite && canUse(session, 'access_keys:write');
  return (
    <PageFrame
      title={`${user.first_name} ${user.last_name}`.trim() || user.email_address}
      status={
        <StatusPill tone={user.active ? 'success' : 'neutral'}>{user.active ? own.active : own.inactive}</StatusPill>
      }
      about={<span className="break-all">{user.email_address}</span>}
      actions={canWrite && <UserActions user={user} onDeleted={() => void navigate({ to: '/users' })} />}
    >
      <div className="grid items-start gap-4 min-[1280px]:grid-cols-[minmax(0,800px)_minmax(280px,1fr)]">
        <UserForm key={userId} user={user} etag={etag} canWrite={canWrite} />
        <div className="flex flex-col gap-4">
          <Card title={own.facts}>
            <FactList
              rows={[
                [own.columns.login, <TimeText key="login" time={user.last_login_date} />],
                [own.passwordSet, <TimeText key="password" time={user.password_updated} />],
                [own.columns.created, <TimeText key="created" time={user.created_at} />],
              ]}
            />
          </Card>
          <SessionList userId={userId} canEnd={canWrite} isOwn={userId === session.user.id} />
          {canRenew && <AccessKeyCard userId={userId} />}
        </div>
      </div>
    </PageFrame>
  );
}
