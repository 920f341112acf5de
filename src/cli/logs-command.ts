import { systemClock } from '#base/clock.ts';
import type { catalogue } from '../catalogue.ts';
import { type CliEnvironment, formatCommandHelp, parseCommand } from './command.ts';
import { resolveConnection } from './connection.ts';
import { logsFlags } from './flags.ts';
import { replaceControlCharacters } from './output.ts';
import { problem } from './problems.ts';
import { parseServerEvents } from './server-events.ts';
import { createSurfaceClient } from './surface-client.ts';

/** `gw logs`: requests to the APIs of an organisation, recent ones or as they are recorded. */

const kind = 'logs';

type LogOperations = readonly Extract<(typeof catalogue)[number], { path: '/api/logs' }>[];

/** Age of requests that are printed without `--follow`. */
const recentSeconds = 3600;
/** Requests that are printed without `--follow`: by default, and at most. */
const defaultRecentCalls = 100;
const maxRecentCalls = 10_000;
const reconnectDelayMs = 1000;
/** Attempts to open the stream that may fail in a row. */
const maxFailedConnects = 30;

interface LoggedCall {
  readonly timestamp: string;
  readonly method: string;
  readonly raw_path: string;
  readonly response_code: number;
  readonly request_time: number;
  readonly api_name: string;
  readonly refusal: string;
  /** Absent in responses of older versions. */
  readonly upstream_error?: string;
}

const help = () =>
  formatCommandHelp({
    name: kind,
    about: 'prints requests to APIs',
    usage: [
      ['logs', 'the newest requests of the last hour'],
      ['logs --follow', 'requests as they are recorded'],
    ],
    flags: logsFlags,
  });

type Flags = ReturnType<typeof parseCommand<typeof logsFlags>>['values'];

export async function runLogsCommand(args: readonly string[], { environment, print }: CliEnvironment): Promise<void> {
  const { positionals, values } = parseCommand(kind, logsFlags, args);
  if (values.help) return print(help());
  const createUsageProblem = (reason: string) => problem.usage({ detail: { reason, kind } });
  if (positionals.length > 0) throw createUsageProblem('logs takes no words');
  if (values.output !== undefined && values.output !== 'json') throw createUsageProblem('-o takes json');
  const defaultLimit = values.follow ? Number.POSITIVE_INFINITY : defaultRecentCalls;
  const limit = values.limit === undefined ? defaultLimit : Number(values.limit);
  if (!(limit >= 1)) throw createUsageProblem('--limit takes a number');
  if (!values.follow && limit > maxRecentCalls)
    throw createUsageProblem(`--limit is at most ${maxRecentCalls} without --follow`);
  const connection = resolveConnection('dashboard', values, environment);
  const format = (call: LoggedCall) => (values.output === 'json' ? `${JSON.stringify(call)}\n` : formatCall(call));
  const query = toQuery(values);
  if (values.follow) return follow({ ...connection, query, limit, print: call => print(format(call)) });
  const call = createSurfaceClient<LogOperations>('dashboard', connection);
  for (const item of await listRecent(call, query, limit)) print(format(item));
}

/** Newest requests of the last hour, oldest first, page by page. */
async function listRecent(
  call: ReturnType<typeof createSurfaceClient<LogOperations>>,
  query: Readonly<Record<string, string>>,
  limit: number,
): Promise<LoggedCall[]> {
  const end = Math.floor(systemClock.now() / 1000);
  const found: LoggedCall[] = [];
  for (let p = 1, pages = 1; p <= pages && found.length < limit; p += 1) {
    const listed = await call('GET /api/logs', { query: { ...query, start: end - recentSeconds, end, p } as never });
    found.push(...listed.data);
    pages = listed.pages;
    if (listed.data.length === 0) break;
  }
  return found.slice(0, limit).reverse();
}

const toQuery = ({ api, status, errors }: Flags) => ({
  ...(api !== undefined && { api_id: api }),
  ...(status !== undefined && { status }),
  ...(errors && { errors: 'true' }),
});

function formatCall(call: LoggedCall): string {
  const { timestamp, method, raw_path, response_code, request_time, api_name, refusal, upstream_error = '' } = call;
  const parts = [timestamp, response_code, method, raw_path, `${Math.round(request_time)}ms`, api_name, refusal];
  return `${[...parts, upstream_error].map(replaceControlCharacters).filter(Boolean).join(' ')}\n`;
}

interface FollowOptions {
  readonly url: string;
  readonly secret: string;
  readonly fetch: typeof fetch;
  readonly query: Readonly<Record<string, string>>;
  readonly limit: number;
  print(call: LoggedCall): void;
}

/** Follows the log. The server ends each stream after minutes: the next one continues after the last event. */
async function follow(options: FollowOptions): Promise<void> {
  let lastId = '';
  let printed = 0;
  let failures = 0;
  while (printed < options.limit) {
    const response = await openStream(options, lastId);
    if (!response) {
      failures += 1;
      if (failures > maxFailedConnects)
        throw problem.unreachable({ detail: { url: options.url, reason: 'no stream' } });
      await new Promise(resolve => setTimeout(resolve, reconnectDelayMs));
      continue;
    }
    failures = 0;
    for await (const { name, id, data } of parseServerEvents(response.body!)) {
      if (id !== '') lastId = id;
      if (name !== 'call') continue;
      options.print(JSON.parse(data) as LoggedCall);
      printed += 1;
      if (printed >= options.limit) break;
    }
  }
}

/** Undefined where the connection fails after the first: the gateway restarts. */
async function openStream(
  { url, secret, fetch: send, query }: FollowOptions,
  lastId: string,
): Promise<Response | undefined> {
  const headers = { authorization: secret, ...(lastId !== '' && { 'last-event-id': lastId }) };
  if (secret === '') throw problem.no_secret({ detail: { secret: 'access key', variable: 'GW_ACCESS_KEY' } });
  let response: Response;
  try {
    response = await send(`${url.replace(/\/+$/, '')}/api/logs/stream?${new URLSearchParams(query)}`, { headers });
  } catch (cause) {
    if (lastId !== '') return undefined;
    const { code } = ((cause as Error).cause ?? {}) as { code?: string };
    throw problem.unreachable({ detail: { url, reason: code ?? (cause as Error).message }, cause });
  }
  if (response.ok) return response;
  if (response.status === 401) throw problem.wrong_secret({ detail: { url, variable: 'GW_ACCESS_KEY' } });
  const { Message } = (await response.json().catch(() => ({}))) as { Message?: string };
  throw problem.refused({ detail: { message: Message ?? `status ${response.status}` } });
}
