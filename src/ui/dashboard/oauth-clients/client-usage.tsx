import { nowMs } from '../../kit/browser-clock.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { TimeText } from '../../kit/time-text.tsx';
import { listColumnTexts as own } from '../../texts/en/list-columns.ts';
import type { ClientItem } from './client-facts.ts';

const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;
/** Days in which the last request of a client is looked for. */
const lastUsedDays = 30;

/** Requests with tokens of a client to its API. */
function useClientCount({ api_id, client_id }: ClientItem, days: number) {
  const end = Math.ceil(nowMs() / 1000 / hourSeconds) * hourSeconds;
  return useOperation('GET /api/usage', {
    query: { api_id, oauth_id: client_id, start: end - days * daySeconds, end, group_by: 'oauth_id', p: -1 },
  });
}

export function ClientUsage({ client }: { client: ClientItem }) {
  const day = useClientCount(client, 1);
  const month = useClientCount(client, lastUsedDays);
  if (!day.data) return <QueryState query={day} lines={2} />;
  if (!month.data) return <QueryState query={month} lines={2} />;
  const lastHit = month.data.value.data[0]?.last_hit;
  return (
    <Card title={own.usage}>
      <FactList
        rows={[
          [own.calls, formatNumber(day.data.value.data[0]?.hits ?? 0)],
          [own.lastUse, lastHit ? <TimeText key="last" time={lastHit} /> : own.unused],
        ]}
      />
    </Card>
  );
}
