import type { Dispatcher } from 'undici';
import type { HeadLimits } from '../http/http1/head-parser.ts';
import type { ParsedFields } from '../http/http1/parsed-fields.ts';
import { createUpstreamError, upstreamErrors } from './http1/errors.ts';

/** Request to an upstream. */
export interface UpstreamRequestOptions {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  /** Field lines of the request they come from, where it is one of HTTP/1.1. */
  readonly parsed?: ParsedFields | undefined;
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  /** The caller has a timeout of its own for the response head. */
  readonly hasCallerTimeout: boolean;
}

/** Receives the response to one request. `onComplete` or `onError` is the last call, and comes once. */
export interface UpstreamHandler {
  /** Before the request is written; `abort` fails it at any time until its end. */
  onConnect(abort: (error?: Error) => void): void;
  /** Interim responses first, then the final one. False pauses the body until `resume` is called. */
  onHead(status: number, headers: readonly string[], resume: () => void, parsed?: ParsedFields): boolean;
  /** `isShared`: the chunk is overwritten after the call, so what outlives it is copied. False pauses. */
  onData(chunk: Buffer, isShared: boolean): boolean;
  /** All that has arrived after a head was handed over: more of the response comes later, if any. */
  onReadEnd(): void;
  onComplete(trailers: readonly string[]): void;
  onError(error: Error): void;
}

/** Sends requests to an upstream, over either protocol. */
export interface UpstreamDispatcher {
  dispatch(options: UpstreamRequestOptions, handler: UpstreamHandler): void;
  /** Ends requests in progress, then closes. */
  close(): Promise<void>;
  destroy(): Promise<void>;
}

/** undici's HTTP/1.1 as an upstream dispatcher. */
export const createUndiciDispatcher = (
  dispatcher: Pick<Dispatcher, 'dispatch' | 'close' | 'destroy'>,
  limits: HeadLimits,
  headersTimeoutMs: number,
): UpstreamDispatcher => ({
  dispatch({ method, body, hasCallerTimeout, headers, parsed: _parsed, ...rest }, handler) {
    dispatcher.dispatch(
      {
        ...rest,
        headers: headers as string[],
        method: method as Dispatcher.HttpMethod,
        body: (body ?? null) as NonNullable<Dispatcher.DispatchOptions['body']> | null,
        headersTimeout: hasCallerTimeout ? 0 : null,
      },
      {
        onConnect: abort => handler.onConnect(abort),
        onHeaders(status, raw, resume) {
          const received = raw.map(toLatin1);
          const excess = checkHeadLimits(received, limits);
          // Fails the request and closes its connection.
          if (excess) throw excess;
          process.nextTick(notifyReadEnd, handler);
          return handler.onHead(status, received, resume);
        },
        onData: chunk => handler.onData(chunk, false),
        onComplete: trailers => handler.onComplete((trailers ?? []).map(toLatin1)),
        onError: error => handler.onError(addTimeoutMs(error, headersTimeoutMs)),
      },
    );
  },
  close: () => dispatcher.close(),
  destroy: () => dispatcher.destroy(),
});

/** Adds the duration, which the timeout error of undici lacks. */
const addTimeoutMs = (error: Error, timeoutMs: number): Error =>
  (error as { code?: string }).code === upstreamErrors.headersTimeout
    ? createUpstreamError('headersTimeout', `no response head in ${timeoutMs} ms`, error)
    : error;

/** For dispatchers that cannot detect where a read ends. */
export const notifyReadEnd = (handler: UpstreamHandler): void => handler.onReadEnd();

/** Limits of a response head that another implementation has parsed: an error when it exceeds them. */
export function checkHeadLimits(
  headers: readonly string[],
  { maxHeaderBytes, maxHeaders }: HeadLimits,
): Error | undefined {
  if (headers.length > 2 * maxHeaders)
    return createUpstreamError('invalidResponse', `the response has more than ${maxHeaders} headers`);
  let bytes = 0;
  // A line has a colon, a space and its end besides.
  for (let i = 0; i < headers.length; i += 2) bytes += headers[i]!.length + headers[i + 1]!.length + 4;
  return bytes > maxHeaderBytes
    ? createUpstreamError('invalidResponse', `the response head is larger than ${maxHeaderBytes} bytes`)
    : undefined;
}

const toLatin1 = (text: string | Buffer): string => text.toString('latin1');
