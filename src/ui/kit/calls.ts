import type { CallArguments, CallResult, Routes } from '#operations/client.ts';
import type { catalogue } from '../../catalogue.ts';
import { sharedTexts } from '../texts/shared-texts.ts';

/** Calls of operations by route. Names and shapes come from the declarations of the server, as types. */
export type Operations = Routes<typeof catalogue>;
export type Route = keyof Operations & string;
export type ArgumentsOf<R extends Route> = CallArguments<Operations[R]>;
export type ResultOf<R extends Route> = CallResult<Operations[R]>;

/** Body of a route from a JSON text or from the result of another route: the server checks it. */
export const toBodyOf = <R extends Route>(value: unknown): ArgumentsOf<R>['body'] => value as ArgumentsOf<R>['body'];

export type ReadRoute = Extract<Route, `GET ${string}`>;
export type WriteRoute = Exclude<Route, ReadRoute>;

/** A response with what its headers say. */
export interface CallResponse<Value> {
  readonly value: Value;
  /** Entity tag of the object, for `If-Match` of its next write. */
  readonly etag: string | undefined;
  readonly headers: Headers;
}

/** A refused call: status and message of the server; status 0 where there was no response. */
export class CallError extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, body: Readonly<Record<string, unknown>>, retryAfter: string | null) {
    super(readMessage(body) ?? `Status ${status}`);
    this.name = 'CallError';
    this.status = status;
    this.body = body;
    this.retryAfterSeconds = retryAfter === null ? undefined : Number(retryAfter);
  }
}

/** Faults of members with the label of their field in place of the member: `email_address: …`. */
export function nameFields(message: string): string {
  const { fieldNames } = sharedTexts.kit;
  const toLabel = (name: string) => (Object.hasOwn(fieldNames, name) ? fieldNames[name] : name);
  return message.replaceAll(/(^|; )([a-z_]+)(?=: )/g, (_all, start: string, name: string) => start + toLabel(name));
}

/** Message of an error of the dashboard, the gateway or the portal, which has a list of them. */
function readMessage({ Message, message, errors }: Readonly<Record<string, unknown>>): string | undefined {
  const found = Message ?? message ?? (Array.isArray(errors) ? errors.join('; ') : undefined);
  return found === undefined ? undefined : nameFields(String(found));
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Entity tag of the read that the write is based on. */
  readonly ifMatch?: string | undefined;
  /** Query parameters beside those of the operation. */
  readonly wait?: 'applied';
  /** Why the change is made: its revision stores it. */
  readonly note?: string | undefined;
}

interface SessionState {
  csrfToken: string;
  /** Opens the dialog of an ended session; resolves after a sign-in. */
  reauthenticate: (() => Promise<void>) | undefined;
}

const session: SessionState = { csrfToken: '', reauthenticate: undefined };

export const setCsrfToken = (token: string): void => {
  session.csrfToken = token;
};
export const readCsrfToken = (): string => session.csrfToken;
export const setReauthentication = (reauthenticate: SessionState['reauthenticate']): void => {
  session.reauthenticate = reauthenticate;
};

/** Sends a request; after the end of a session it waits for a new sign-in and repeats the request once. */
export async function callServer<R extends Route>(
  route: R,
  given: ArgumentsOf<R>,
  options: CallOptions = {},
): Promise<CallResponse<ResultOf<R>>> {
  const response = await sendRequest(route, given as RawArguments, options);
  const isEnded = response.status === 401 && session.reauthenticate !== undefined && route !== 'POST /api/session';
  if (!isEnded) return readResponse(response);
  await session.reauthenticate?.();
  return readResponse(await sendRequest(route, given as RawArguments, options));
}

/** Sends a file as the body of a route that takes uploads. */
export const uploadFile = async <R extends Route>(
  route: R,
  file: Blob,
  params: Readonly<Record<string, string>> = {},
): Promise<CallResponse<ResultOf<R>>> =>
  readResponse(await sendRequest(route, { params, body: file, contentType: 'application/octet-stream' }, {}));

interface RawArguments {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** Routes of streams APIs accept their own media type alone. */
const readContentType = (path: string) =>
  path.startsWith('/api/apis/streams') ? 'application/vnd.gw.streams.oas' : 'application/json';

async function sendRequest(
  route: string,
  { params = {}, query = {}, body, contentType }: RawArguments,
  options: CallOptions,
) {
  const [method = '', path = ''] = route.split(' ');
  const headers = new Headers({ accept: 'application/json' });
  if (method !== 'GET' && session.csrfToken) headers.set('x-csrf-token', session.csrfToken);
  if (body !== undefined) headers.set('content-type', contentType ?? readContentType(path));
  if (options.ifMatch) headers.set('if-match', options.ifMatch);
  if (options.note) headers.set('x-gw-change-note', encodeURIComponent(options.note));
  const isSentAsIs = typeof body === 'string' || body instanceof Blob;
  const content = body === undefined ? null : isSentAsIs ? body : JSON.stringify(body);
  try {
    return await fetch(buildPath(path, params) + formatQuery({ ...query, wait: options.wait }), {
      method,
      headers,
      body: content,
      signal: options.signal ?? null,
      credentials: 'same-origin',
      redirect: 'error',
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new CallError(0, { Message: sharedTexts.kit.unreachable }, null);
  }
}

async function readResponse<Value>(response: Response): Promise<CallResponse<Value>> {
  const text = await response.text();
  const body = parseBody(text);
  if (!response.ok) {
    const isObject = typeof body === 'object' && body !== null;
    const shown = isObject ? (body as Record<string, unknown>) : { Message: text.slice(0, maxMessageChars) };
    throw new CallError(response.status, shown, response.headers.get('retry-after'));
  }
  return { value: body as Value, etag: response.headers.get('etag') ?? undefined, headers: response.headers };
}

const maxMessageChars = 500;

function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const buildPath = (path: string, params: Readonly<Record<string, unknown>>) =>
  path.replaceAll(/\{([\w-]+)\}/g, (_whole, name: string) =>
    encodeURIComponent(String(params[name.replaceAll('-', '_')])),
  );

function formatQuery(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
}
