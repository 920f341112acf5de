import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';

export interface Http2Options {
  /** A connection that speaks HTTP/2. */
  open(): Promise<Socket>;
  readonly headersTimeoutMs: number;
  /** Called with SETTINGS_MAX_CONCURRENT_STREAMS (RFC 9113, 6.5.2) when the upstream announces it. */
  onMaxStreams(streams: number): void;
}

/** What is used of a pool, whichever protocol it speaks. */
export type Sender = Pick<Dispatcher, 'dispatch' | 'close' | 'destroy'>;

/** How long a connection without calls is kept. */
const idleMs = 30_000;

/** Calls to one upstream over HTTP/2: many at once on one connection, which is opened anew when it ends. */
export function http2Client(origin: string, { open, headersTimeoutMs, onMaxStreams }: Http2Options): Sender {
  let session: Promise<ClientHttp2Session> | undefined;
  let closed = false;

  async function connected(): Promise<ClientHttp2Session> {
    const socket = await open();
    const made = connect(origin, { createConnection: () => socket, settings: { enablePush: false } });
    const forget = () => {
      session = undefined;
    };
    made.on('error', forget);
    made.once('goaway', forget);
    made.once('close', forget);
    made.on('remoteSettings', ({ maxConcurrentStreams = Number.POSITIVE_INFINITY }) =>
      onMaxStreams(maxConcurrentStreams),
    );
    made.setTimeout(idleMs, () => made.close());
    if (closed) made.close();
    return made;
  }

  function current(): Promise<ClientHttp2Session> {
    session ??= connected().catch(error => {
      session = undefined;
      throw error;
    });
    return session;
  }

  return {
    dispatch(options, handler) {
      current().then(
        made => send(made, options, handler, options.headersTimeout ?? headersTimeoutMs),
        error => handler.onError?.(error as Error),
      );
      return true;
    },
    async close() {
      closed = true;
      (await session?.catch(() => undefined))?.close();
    },
    async destroy() {
      closed = true;
      (await session?.catch(() => undefined))?.destroy();
    },
  } as Sender;
}

type Handler = Dispatcher.DispatchHandler;

function send(
  session: ClientHttp2Session,
  options: Dispatcher.DispatchOptions,
  handler: Handler,
  timeoutMs: number,
): void {
  let isOver = false;
  let stream: ClientHttp2Stream | undefined;
  const fail = (error: Error) => {
    if (isOver) return;
    isOver = true;
    stream?.close(constants.NGHTTP2_CANCEL);
    handler.onError?.(error);
  };
  handler.onConnect?.(error => fail(error ?? new Error('the call was taken back')));
  if (isOver) return;
  try {
    stream = session.request(headOf(options) as never, { endStream: !options.body });
  } catch (error) {
    return fail(error as Error);
  }
  const late = () => fail(Object.assign(new Error('no answer in time'), { code: 'UND_ERR_HEADERS_TIMEOUT' }));
  // 0: somebody else watches over the time.
  const timer = timeoutMs > 0 ? setTimeout(late, timeoutMs) : undefined;
  const open = stream;
  let trailers: string[] = [];
  const complete = () => {
    if (isOver) return;
    isOver = true;
    handler.onComplete?.(trailers);
  };
  open.once('response', (headers, flags, raw) => {
    clearTimeout(timer);
    const more = handler.onHeaders?.(Number(headers[':status']), rawOf(raw as string[]), () => open.resume(), '');
    open.on('data', (chunk: Buffer) => {
      if (isOver || handler.onData?.(chunk) === false) open.pause();
    });
    if (flags & constants.NGHTTP2_FLAG_END_STREAM) {
      // END_STREAM on the head: the end is passed on with it, so that it arrives in one frame again.
      complete();
      open.resume();
    } else if (more === false) open.pause();
  });
  open.once('trailers', (_given, _flags, raw) => {
    trailers = raw as string[];
  });
  open.once('end', complete);
  open.on('error', fail);
  open.once('close', () => {
    clearTimeout(timer);
    fail(new Error('the upstream ended the call'));
  });
  if (options.body) void sendBody(open, options.body as Buffer | AsyncIterable<Uint8Array>, fail);
}

function headOf({ path, method, headers, origin }: Dispatcher.DispatchOptions): string[] {
  const given = headers as string[];
  const head = [':method', method as string, ':path', path, ':scheme', new URL(String(origin)).protocol.slice(0, -1)];
  const rest: string[] = [];
  for (let at = 0; at < given.length; at += 2) {
    const name = given[at]!.toLowerCase();
    if (name === 'host') head.push(':authority', given[at + 1]!);
    else rest.push(name, given[at + 1]!);
  }
  return [...head, ...rest];
}

/** As the other protocol delivers them. */
function rawOf(flat: readonly string[]): Buffer[] {
  const raw: Buffer[] = [];
  for (let at = 0; at < flat.length; at += 2)
    if (!flat[at]!.startsWith(':')) raw.push(Buffer.from(flat[at]!, 'latin1'), Buffer.from(flat[at + 1]!, 'latin1'));
  return raw;
}

async function sendBody(
  stream: ClientHttp2Stream,
  body: Buffer | AsyncIterable<Uint8Array>,
  fail: (error: Error) => void,
): Promise<void> {
  if (Buffer.isBuffer(body)) return void stream.end(body);
  try {
    for await (const chunk of body) {
      if (stream.destroyed || stream.writableEnded) return;
      if (!stream.write(chunk)) await drained(stream);
    }
    stream.end();
  } catch (error) {
    fail(error as Error);
  }
}

const drained = (stream: ClientHttp2Stream) =>
  new Promise<void>(resolve => {
    stream.once('drain', resolve);
    stream.once('close', resolve);
  });
