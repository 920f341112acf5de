import type { FastifyInstance, InjectOptions } from 'fastify';
import { createManagementListener, type ManagementListenerOptions } from './listener.ts';

/** Control API request that another thread received, as plain data. */
export interface ForwardedRequest {
  readonly method: string;
  /** Normalised path, and query. */
  readonly url: string;
  /** Flat list, without hop-by-hop and forwarding headers. */
  readonly headers: readonly string[];
  readonly body?: Uint8Array | undefined;
  /** Client address as the receiving thread resolved it. */
  readonly address: string;
}

export interface ForwardedResponse {
  readonly status: number;
  readonly headers: string[];
  readonly body: Uint8Array;
}

export type Inject = (given: ForwardedRequest) => Promise<ForwardedResponse>;

/**
 * Injects forwarded requests into a listener that has no port and only the control surface, so that no path reaches
 * another surface; it trusts no forwarding headers, only `address`.
 */
export function createInjector(options: Omit<ManagementListenerOptions, 'surfaces'>): Inject {
  /** Created on first use, to keep the start fast. */
  let app: FastifyInstance | undefined;
  return async ({ method, url, headers, body, address }) => {
    app ??= createManagementListener({ ...options, surfaces: ['gateway'], trustedProxies: [] });
    const reply = await app.inject({
      // HTTP/2 allows any method; unknown ones match no route.
      validate: false,
      method: method as NonNullable<InjectOptions['method']>,
      url,
      headers: groupHeaders(headers),
      remoteAddress: address,
      ...(body && { payload: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }),
    });
    const headerList = Object.entries(reply.headers).flatMap(([name, value]) =>
      [value ?? []].flat().flatMap(text => [name, String(text)]),
    );
    return { status: reply.statusCode, headers: headerList, body: reply.rawPayload };
  };
}

function groupHeaders(flat: readonly string[]): Record<string, string[]> {
  const grouped: Record<string, string[]> = Object.create(null);
  for (let index = 0; index < flat.length; index += 2) {
    const name = flat[index]!.toLowerCase();
    grouped[name] ??= [];
    grouped[name].push(flat[index + 1]!);
  }
  return grouped;
}
