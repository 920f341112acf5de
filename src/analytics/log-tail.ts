import type { ServerEvent } from '#operations/event-streams.ts';
import type { LogQuery, LogStore } from './log-store.ts';

/** Requests sent per poll; of more, the newest. */
const maxTailedCalls = 200;
/**
 * Ids looked at again: PostgreSQL assigns ids before the commit, so that rows of another process may become visible
 * after later ones.
 */
const overlapIds = 2000;

/** Follows the log: each poll returns the requests that were stored since the last one. */
export function createLogTail(logs: LogStore, startId: number) {
  let lastId = startId;
  let sent = new Set<number>();
  return async (logQuery: LogQuery): Promise<ServerEvent[]> => {
    const ids = await logs.listIds(logQuery, Math.max(startId, lastId - overlapIds), overlapIds);
    const fresh = ids.filter(id => !sent.has(id));
    const taken = fresh.slice(-maxTailedCalls);
    const calls = await logs.findCalls(taken);
    lastId = Math.max(lastId, ...ids);
    sent = new Set(ids);
    const skipped = fresh.length - taken.length;
    return [
      ...(skipped > 0 ? [{ name: 'skipped', data: { at_least: skipped } }] : []),
      ...calls.map(({ id, call: { raw_request: _request, raw_response: _response, ...call } }) => ({
        name: 'call',
        id: String(id),
        data: call,
      })),
    ];
  };
}
