import { createUuid } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import type { Exchange } from './exchange.ts';

/**
 * Request ids. With `gateway.request_id_header` every exchange has one from its start, in a header to the upstream.
 * Without it an id is generated where something uses it: access log, explanation, context variable.
 */
export interface RequestIds {
  /** Takes the id of a trusted proxy or generates one, or assigns `given`, and sets the header. */
  assign(call: Exchange, given?: string): void;
}

/**
 * Ids of other programs: UUIDs, ULIDs, trace ids. At most 128 characters, none of which headers and logs have to escape.
 */
const requestIdPattern = /^[A-Za-z0-9][A-Za-z0-9._:=+/@-]{0,127}$/;

export function createRequestIds(settings: Settings): RequestIds | undefined {
  const header = settings['gateway.request_id_header'];
  if (header === '') return undefined;
  const lowerName = header.toLowerCase();
  const isInResponse = settings['gateway.request_id_in_response'];
  return {
    assign(call, given) {
      call.requestId = given ?? (readTrustedId(call, lowerName) || createUuid());
      call.headers.set(header, call.requestId);
      if (isInResponse) call.requestIdHeader = header;
    },
  };
}

/** A client could choose the id of another request, or text for the log: only trusted proxies are believed. */
function readTrustedId({ peer, headers }: Exchange, lowerName: string): string {
  const received = peer.isTrusted ? (headers.get(lowerName) ?? '') : '';
  return requestIdPattern.test(received) ? received : '';
}

/** The id of an exchange, generated at the first use. */
export function ensureRequestId(call: Exchange): string {
  if (call.requestId === '') call.requestId = createUuid();
  return call.requestId;
}
