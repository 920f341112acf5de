import { STATUS_CODES } from 'node:http';
import type { Dispatcher } from 'undici';
import type { InvalidRequest } from '../../http/request-head.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';
import { createBadRequestResponse } from '../../server/create-exchange.ts';
import type { Arrived } from './build-request.ts';

/** Of an answer, and of a request that a step made longer. */
export const shownBytes = 1_048_576;

const head = (first: string, flat: readonly string[]) => {
  let text = `${first}\r\n`;
  for (let at = 0; at + 1 < flat.length; at += 2) text += `${flat[at]}: ${flat[at + 1]}\r\n`;
  // What travels as bytes is shown as the text it stands for.
  return Buffer.from(`${text}\r\n`, 'latin1').toString();
};

const shown = (bytes: Uint8Array | undefined) => Buffer.from(bytes?.subarray(0, shownBytes) ?? []).toString();

/** As it arrived: what there is to show of a call that was never forwarded. */
export const receivedText = ({ method, target, headers, body }: Arrived): string =>
  head(`${method} ${target} HTTP/1.1`, headers.flat) + shown(body);

/** What a listener says to a call that is not one. */
export function badHeadText(bad: InvalidRequest): string {
  const { headers, body } = createBadRequestResponse(bad);
  return head(statusLine(bad.status), headers) + shown(body);
}

const statusLine = (status: number) => `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();

export function forwardedText({ method, path, headers, body }: Dispatcher.DispatchOptions): string {
  const flat = Array.isArray(headers) ? (headers as string[]) : [];
  const bytes = typeof body === 'string' ? Buffer.from(body) : body instanceof Uint8Array ? body : undefined;
  return head(`${method} ${path} HTTP/1.1`, flat) + shown(bytes);
}

export const bothTexts = (request: string, response: string): string =>
  `====== Request ======\n${request}\n====== Response ======\n${response}`;

/** Keeps an answer in memory, up to a bound. */
export interface Collector {
  readonly writer: ResponseWriter;
  readonly status: () => number;
  text(): string;
}

export interface Collecting {
  onStart(): void;
  /** The answer is longer than what is kept: nobody needs the rest. */
  onFull(): void;
  onEnd(): void;
  onBroken(): void;
}

export function collector(on: Collecting): Collector {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let status = 0;
  let flat: readonly string[] = [];
  let full = false;

  function keep(chunk: Uint8Array): void {
    if (full) return;
    chunks.push(chunk.subarray(0, shownBytes - size));
    size += chunk.length;
    full = size > shownBytes;
    if (full) on.onFull();
  }

  const writer: ResponseWriter = {
    onDrain: undefined,
    writeHead(given, headers) {
      on.onStart();
      status = given;
      flat = [...headers];
    },
    write(chunk) {
      // The bytes belong to the connection they came over, which may use them again.
      keep(Uint8Array.from(chunk));
      return true;
    },
    end(chunk) {
      if (chunk) keep(Uint8Array.from(chunk));
      if (!full) on.onEnd();
    },
    abort: () => void (full || on.onBroken()),
  };
  const text = () => (status === 0 ? '' : head(statusLine(status), flat) + Buffer.concat(chunks).toString());
  return { writer, status: () => status, text };
}
