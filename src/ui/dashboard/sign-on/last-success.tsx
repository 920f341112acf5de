import { useOperation } from '../../kit/queries.ts';
import { TimeText } from '../../kit/time-text.tsx';
import { signOnTexts } from '../../texts/en/sign-on.ts';

/** Status of the record of a sign-on that opened a session. */
const openedStatus = 303;

/** Last sign-on through a profile that succeeded, from the audit records; for users who may read them. */
export function LastSuccess({ profileId }: { profileId: string }) {
  const query = { action: 'signOn', url: profileId, status: openedStatus, p: 1, page_size: 1 };
  const { data } = useOperation('GET /api/audit-logs', { query });
  if (!data) return null;
  const record = data.value.audit_logs[0];
  return record ? <TimeText time={record.timestamp} /> : signOnTexts.noSuccess;
}
