import type { ServerEvent } from '#operations/event-streams.ts';
import type { LogPlace } from './log-ids.ts';
import type { LogQuery, LogStore } from './log-store.ts';

/** Requests sent per poll; of more, the newest. */
const maxTailedCalls = 200;
/**
 * Ids looked at again: PostgreSQL assigns ids before the commit, so that rows of another process may become visible
 * after later ones.
 */
const maxRereadIds = 2000;
/** Ids of all organisations that a client which reconnects goes back, at most. */
const maxResumedIds = 100_000;

export interface LogTailOptions {
  readonly logs: LogStore;
  /** Row that the client has received last; undefined for a client that starts with the next request. */
  readonly lastId: number | undefined;
  /** Event id of a row. Row ids count the requests of all organisations: clients must not see them. */
  readonly sealId: (id: number) => string;
  readonly formatId: (place: LogPlace) => string;
}

/** Log tailing: each poll returns the requests that were stored since the last one. */
export async function createLogTail({ logs, lastId: givenId, sealId, formatId }: LogTailOptions) {
  const newestAtStart = await logs.findLastId();
  const startId = Math.max(Math.min(givenId ?? newestAtStart, newestAtStart), newestAtStart - maxResumedIds);
  let readId = startId;
  let sent = new Set<number>();
  return async (logQuery: LogQuery): Promise<ServerEvent[]> => {
    const newest = await logs.findLastId();
    const ids = await logs.listIds(logQuery, Math.max(startId, readId - maxRereadIds), maxRereadIds);
    const fresh = ids.filter(id => !sent.has(id));
    const taken = fresh.slice(-maxTailedCalls);
    const calls = await logs.findCalls(taken);
    readId = Math.max(readId, newest, ...ids);
    sent = new Set(ids);
    const skipped = fresh.length - taken.length;
    return [
      ...(skipped > 0 ? [{ name: 'skipped', data: { at_least: skipped } }] : []),
      ...calls.map(({ rowId, at, call: { raw_request: _request, raw_response: _response, ...call } }) => ({
        name: 'call',
        id: sealId(rowId),
        data: { id: formatId({ rowId, at }), ...call },
      })),
    ];
  };
}
