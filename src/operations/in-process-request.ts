import type { FastifyInstance, InjectOptions } from 'fastify';
import { createManagementListener, type ManagementListenerOptions } from './listener.ts';

/** A call of the control interface that came in at a door of another thread, as plain data. */
export interface ForwardedRequest {
  readonly method: string;
  /** Path and query; the path in its one spelling. */
  readonly url: string;
  /** A flat list, without what speaks of the connection or says who calls. */
  readonly headers: readonly string[];
  readonly body?: Uint8Array | undefined;
  /** Who calls, as the other door knows it. */
  readonly address: string;
}

export interface ForwardedResponse {
  readonly status: number;
  readonly headers: string[];
  readonly body: Uint8Array;
}

export type Inject = (given: ForwardedRequest) => Promise<ForwardedResponse>;

/**
 * Answers such calls as the listener with these options does, from a listener of its own that nobody can connect to: it has
 * the control interface and no other surface, so that no spelling of a path leads to one, and it takes nobody's word about
 * who calls but ours.
 */
export function createInjector(options: ManagementListenerOptions): Inject {
  /** Made when somebody asks: a start need not wait for it. */
  let app: FastifyInstance | undefined;
  return async ({ method, url, headers, body, address }) => {
    app ??= createManagementListener({ ...options, surfaces: ['gateway'], trustedProxies: [] });
    const reply = await app.inject({
      // Not every protocol has a list of methods: those nobody has heard of meet no route.
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
