import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface HeldRequest {
  readonly method: string;
  readonly reached: () => void;
  readonly released: Promise<void>;
}

interface Pause {
  /** Resolves as the request arrives at the relay. */
  readonly reached: Promise<void>;
  /** Forwards the request. */
  release(): void;
}

export interface DashboardRelay extends AsyncDisposable {
  readonly url: string;
  /** How requests fail from now on: refused by a response, without one, or never. */
  failure: 'refused' | 'unavailable' | 'silent' | undefined;
  /** Method whose requests fail; all of them without one. */
  failingMethod: string | undefined;
  /** Requests without a response whose client waits, and the most of them at a time. */
  readonly silent: { readonly now: number; readonly max: number };
  /** Holds the next request of this method until it is released; later ones pass. */
  pauseNext(method: string): Pause;
}

/** Dashboard of a provider as the portal sees it: forwards requests to a real one, and can hold or fail them. */
export async function startDashboardRelay(target: () => string): Promise<DashboardRelay> {
  let pause: HeldRequest | undefined;
  const silent = { now: 0, max: 0 };
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const failure = [undefined, request.method].includes(relay.failingMethod) ? relay.failure : undefined;
    if (failure === 'unavailable') return void request.socket.destroy();
    if (failure === 'refused') return void response.writeHead(400).end('{"Status":"Error","Message":"no"}');
    if (failure === 'silent') {
      silent.max = Math.max(silent.max, ++silent.now);
      return void response.once('close', () => silent.now--);
    }
    const held = pause;
    if (held && held.method === request.method) {
      pause = undefined;
      held.reached();
      await held.released;
    }
    const headers = { authorization: request.headers.authorization ?? '' };
    const sent = body.length > 0 ? { body } : {};
    try {
      const answer = await fetch(target() + request.url, { method: request.method!, headers, ...sent });
      response.writeHead(answer.status).end(await answer.text());
    } catch {
      // The dashboard stops at the end of a test: a repeated call of the portal finds it unavailable.
      request.socket.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const relay: DashboardRelay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failure: undefined,
    failingMethod: undefined,
    silent,
    pauseNext(method) {
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      pause = { method, reached: reached.resolve, released: released.promise };
      return { reached: reached.promise, release: released.resolve };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return relay;
}
