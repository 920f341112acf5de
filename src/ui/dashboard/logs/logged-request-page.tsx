import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { buttonClass } from '../../kit/button.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { LogContent, LoggedTarget } from './log-detail.tsx';

const own = texts.logs;

/** One request at an address of its own. */
export function LoggedRequestPage() {
  const { logId } = useParams({ from: '/shell/logs/$logId' });
  const navigate = useNavigate();
  const query = useOperation('GET /api/logs/{logId}', { params: { logId } });
  const call = query.data?.value;
  return (
    <PageFrame
      title={own.detail}
      width="form"
      about={call && <LoggedTarget call={call} />}
      actions={
        <Link to="/logs" className={buttonClass('secondary')}>
          {own.allRequests}
        </Link>
      }
    >
      {call ? (
        <LogContent call={call} onFilter={search => void navigate({ to: '/logs', search })} />
      ) : (
        <QueryState query={query} />
      )}
    </PageFrame>
  );
}
