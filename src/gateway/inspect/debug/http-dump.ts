import { STATUS_CODES } from '#base/node-http.ts';
import type { InvalidRequest } from '../../http/request-head.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';
import type { UpstreamRequestOptions } from '../../proxy/upstream-dispatcher.ts';
import { createBadRequestResponse } from '../../server/create-exchange.ts';
import type { BuiltRequest } from './build-request.ts';

/** Bound of a dumped request or response body. */
export const maxDumpBytes = 1_048_576;

const formatHead = (first: string, flat: readonly string[]) => {
  let text = `${first}\r\n`;
  for (let at = 0; at + 1 < flat.length; at += 2) text += `${flat[at]}: ${flat[at + 1]}\r\n`;
  // Header bytes are Latin-1 on the wire; displayed as the UTF-8 they encode.
  return Buffer.from(`${text}\r\n`, 'latin1').toString();
};

const formatBody = (bytes: Uint8Array | undefined) => Buffer.from(bytes?.subarray(0, maxDumpBytes) ?? []).toString();

/** The request as received, for one that was never forwarded. */
export const formatReceived = ({ method, target, headers, body }: BuiltRequest): string =>
  formatHead(`${method} ${target} HTTP/1.1`, headers.flat) + formatBody(body);

/** The listener's response to an invalid request. */
export function formatInvalidRequest(bad: InvalidRequest): string {
  const { headers, body } = createBadRequestResponse(bad);
  return formatHead(statusLine(bad.status), headers) + formatBody(body);
}

const statusLine = (status: number) => `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();

export function formatForwarded({ method, path, headers, body }: UpstreamRequestOptions): string {
  const bytes = body instanceof Uint8Array ? body : undefined;
  return formatHead(`${method} ${path} HTTP/1.1`, headers) + formatBody(bytes);
}

export const joinDumps = (request: string, response: string): string =>
  `====== Request ======\n${request}\n====== Response ======\n${response}`;

/** Buffers a response up to `maxDumpBytes`. */
export interface ResponseCollector {
  readonly writer: ResponseWriter;
  readonly status: () => number;
  text(): string;
}

export interface CollectorEvents {
  onStart(): void;
  /** The response exceeds the bound; the rest is discarded. */
  onFull(): void;
  onEnd(): void;
  onAbort(): void;
}

export function createResponseCollector(on: CollectorEvents): ResponseCollector {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let status = 0;
  let flat: readonly string[] = [];
  let isFull = false;

  function append(chunk: Uint8Array): void {
    if (isFull) return;
    chunks.push(chunk.subarray(0, maxDumpBytes - size));
    size += chunk.length;
    isFull = size > maxDumpBytes;
    if (isFull) on.onFull();
  }

  const writer: ResponseWriter = {
    onDrain: undefined,
    writeHead(given, headers) {
      on.onStart();
      status = given;
      flat = [...headers];
    },
    write(chunk) {
      // Copied: the connection reuses its buffer.
      append(Uint8Array.from(chunk));
      return true;
    },
    end(chunk) {
      if (chunk) append(Uint8Array.from(chunk));
      if (!isFull) on.onEnd();
    },
    abort: () => void (isFull || on.onAbort()),
  };
  const text = () => (status === 0 ? '' : formatHead(statusLine(status), flat) + Buffer.concat(chunks).toString());
  return { writer, status: () => status, text };
}
