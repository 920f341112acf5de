import type { FastifyInstance, InjectOptions } from 'fastify';
import { createListener, type ListenerOptions } from './listener.ts';

/** A call of the control interface that came in at a door of another thread, as plain data. */
export interface Carried {
  readonly method: string;
  /** Path and query; the path in its one spelling. */
  readonly url: string;
  /** A flat list, without what speaks of the connection or says who calls. */
  readonly headers: readonly string[];
  readonly body?: Uint8Array | undefined;
  /** Who calls, as the other door knows it. */
  readonly address: string;
}

export interface CarriedAnswer {
  readonly status: number;
  readonly headers: string[];
  readonly body: Uint8Array;
}

export type Carry = (given: Carried) => Promise<CarriedAnswer>;

/**
 * Answers such calls as the listener with these options does, from a listener of its own that nobody can connect to: it has
 * the control interface and no other surface, so that no spelling of a path leads to one, and it takes nobody's word about
 * who calls but ours.
 */
export function carrier(options: ListenerOptions): Carry {
  /** Made when somebody asks: a start need not wait for it. */
  let app: FastifyInstance | undefined;
  return async ({ method, url, headers, body, address }) => {
    app ??= createListener({ ...options, surfaces: ['gateway'], trustedProxies: [] });
    const reply = await app.inject({
      // Not every protocol has a list of methods: those nobody has heard of meet no route.
      validate: false,
      method: method as NonNullable<InjectOptions['method']>,
      url,
      headers: byName(headers),
      remoteAddress: address,
      ...(body && { payload: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }),
    });
    const given = Object.entries(reply.headers).flatMap(([name, value]) =>
      [value ?? []].flat().flatMap(text => [name, String(text)]),
    );
    return { status: reply.statusCode, headers: given, body: reply.rawPayload };
  };
}

function byName(flat: readonly string[]): Record<string, string[]> {
  const found: Record<string, string[]> = Object.create(null);
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!.toLowerCase();
    found[name] ??= [];
    found[name].push(flat[at + 1]!);
  }
  return found;
}
