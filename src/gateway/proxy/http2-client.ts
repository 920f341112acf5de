import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { HeadLimits } from '../http/http1/head-parser.ts';
import { createUpstreamError } from './http1/errors.ts';
import {
  checkHeadLimits,
  notifyReadEnd,
  type UpstreamDispatcher,
  type UpstreamHandler,
  type UpstreamRequestOptions,
} from './upstream-dispatcher.ts';

export interface Http2ClientOptions {
  /** Opens an HTTP/2 connection. */
  open(): Promise<Socket>;
  readonly headersTimeoutMs: number;
  readonly headLimits: HeadLimits;
  /** Called with SETTINGS_MAX_CONCURRENT_STREAMS (RFC 9113, 6.5.2) when the upstream announces it. */
  onMaxStreams(streams: number): void;
}

/** Idle time before the session is closed. */
const idleTimeoutMs = 30_000;

/** HTTP/2 client: multiplexes requests to one origin over one session, reopened when it ends. */
export function createHttp2Client(
  origin: string,
  { open, headersTimeoutMs, headLimits, onMaxStreams }: Http2ClientOptions,
): UpstreamDispatcher {
  let session: Promise<ClientHttp2Session> | undefined;
  let isClosed = false;

  async function connectSession(): Promise<ClientHttp2Session> {
    const socket = await open();
    const opened = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, maxHeaderListSize: headLimits.maxHeaderBytes },
      // One more for `:status`, one more to count what exceeds the limit.
      maxHeaderListPairs: headLimits.maxHeaders + 2,
    });
    const clearSession = () => {
      session = undefined;
    };
    opened.on('error', clearSession);
    opened.once('goaway', clearSession);
    opened.once('close', clearSession);
    opened.on('remoteSettings', ({ maxConcurrentStreams = Number.POSITIVE_INFINITY }) =>
      onMaxStreams(maxConcurrentStreams),
    );
    opened.setTimeout(idleTimeoutMs, () => opened.close());
    if (isClosed) opened.close();
    return opened;
  }

  function getSession(): Promise<ClientHttp2Session> {
    session ??= connectSession().catch(error => {
      session = undefined;
      throw error;
    });
    return session;
  }

  return {
    dispatch(options, handler) {
      getSession().then(
        opened => dispatchStream(opened, options, handler, headLimits, options.hasCallerTimeout ? 0 : headersTimeoutMs),
        error => handler.onError(error as Error),
      );
    },
    async close() {
      isClosed = true;
      (await session?.catch(() => undefined))?.close();
    },
    async destroy() {
      isClosed = true;
      (await session?.catch(() => undefined))?.destroy();
    },
  };
}

function dispatchStream(
  session: ClientHttp2Session,
  options: UpstreamRequestOptions,
  handler: UpstreamHandler,
  limits: HeadLimits,
  timeoutMs: number,
): void {
  let isEnded = false;
  let stream: ClientHttp2Stream | undefined;
  const fail = (error: Error) => {
    if (isEnded) return;
    isEnded = true;
    stream?.close(constants.NGHTTP2_CANCEL);
    handler.onError(error);
  };
  try {
    handler.onConnect(error => fail(error ?? new Error('the request was aborted')));
    if (isEnded) return;
    stream = session.request(toRequestHead(options) as never, { endStream: !options.body });
  } catch (error) {
    return fail(error as Error);
  }
  const timer = startHeadTimeout(timeoutMs, fail);
  const open = stream;
  let trailers: string[] = [];
  const complete = () => {
    if (isEnded) return;
    isEnded = true;
    completeExchange(handler, trailers);
  };
  const onData = (chunk: Buffer) => {
    if (isEnded || !handler.onData(chunk, false)) open.pause();
  };
  const onResponse = (headers: IncomingHttpHeaders, flags: number, raw: readonly string[]) => {
    clearTimeout(timer);
    process.nextTick(guard(notifyReadEnd, fail), handler);
    const received = removePseudoHeaders(raw);
    const excess = checkHeadLimits(received, limits);
    if (excess) return fail(excess);
    const more = handler.onHead(Number(headers[':status']), received, () => open.resume());
    open.on('data', guard(onData, fail));
    if (flags & constants.NGHTTP2_FLAG_END_STREAM) {
      // END_STREAM on the head: the end is passed on with it, so that it arrives in one frame again.
      complete();
      open.resume();
    } else if (!more) open.pause();
  };
  open.once('response', guard(onResponse, fail) as never);
  open.once('trailers', (_given, _flags, raw) => {
    trailers = raw as string[];
  });
  open.once('end', complete);
  open.on('error', fail);
  open.once('close', () => {
    clearTimeout(timer);
    fail(createUpstreamError('socket', 'the upstream closed the stream'));
  });
  if (options.body) void sendBody(open, options.body, fail);
}

/** 0: the caller has its own timeout. */
function startHeadTimeout(timeoutMs: number, fail: (error: Error) => void): NodeJS.Timeout | undefined {
  const onTimeout = () => fail(createUpstreamError('headersTimeout', `no response head in ${timeoutMs} ms`));
  return timeoutMs > 0 ? setTimeout(onTimeout, timeoutMs) : undefined;
}

function completeExchange(handler: UpstreamHandler, trailers: readonly string[]): void {
  try {
    handler.onComplete(trailers);
  } catch (error) {
    handler.onError(error as Error);
  }
}

/** Listener whose errors fail the exchange: uncaught, an error of a response step would end the thread. */
const guard =
  <Given extends unknown[]>(listen: (...given: Given) => void, fail: (error: Error) => void) =>
  (...given: Given): void => {
    try {
      listen(...given);
    } catch (error) {
      fail(error as Error);
    }
  };

function toRequestHead({ path, method, headers: flat, origin }: UpstreamRequestOptions): string[] {
  const head = [':method', method, ':path', path, ':scheme', new URL(origin).protocol.slice(0, -1)];
  const rest: string[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    if (name === 'host') head.push(':authority', flat[i + 1]!);
    else rest.push(name, flat[i + 1]!);
  }
  return [...head, ...rest];
}

function removePseudoHeaders(flat: readonly string[]): string[] {
  const headers: string[] = [];
  for (let i = 0; i < flat.length; i += 2) if (!flat[i]!.startsWith(':')) headers.push(flat[i]!, flat[i + 1]!);
  return headers;
}

async function sendBody(
  stream: ClientHttp2Stream,
  body: Uint8Array | AsyncIterable<Uint8Array>,
  fail: (error: Error) => void,
): Promise<void> {
  if (body instanceof Uint8Array) return void stream.end(body);
  try {
    for await (const chunk of body) {
      if (stream.destroyed || stream.writableEnded) return;
      if (!stream.write(chunk)) await waitForDrain(stream);
    }
    stream.end();
  } catch (error) {
    fail(error as Error);
  }
}

const waitForDrain = (stream: ClientHttp2Stream) =>
  new Promise<void>(resolve => {
    stream.once('drain', resolve);
    stream.once('close', resolve);
  });
