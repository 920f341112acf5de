import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestApp } from './app.ts';

/** The dashboard of another installation behind a relay, whose calls a test intercepts. */
export interface ProviderRelay {
  readonly url: string;
  /** Called before the provider gets a call and before its response; true where the test has dealt with the call. */
  intercept: ((moment: 'before' | 'after', request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  close(): void;
}

export async function startProviderRelay(provider: TestApp): Promise<ProviderRelay> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    if (relay.intercept?.('before', request, response)) return;
    const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
    const init = { method: request.method!, headers: { authorization, 'content-type': type } };
    try {
      const answer = await fetch(provider.url.dashboard + request.url, body.length > 0 ? { ...init, body } : init);
      const text = await answer.text();
      if (!relay.intercept?.('after', request, response)) response.writeHead(answer.status).end(text);
    } catch {
      // The dashboard stops at the end of a test: a repeated call of the portal finds it unavailable.
      request.socket.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const relay: ProviderRelay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    intercept: undefined,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return relay;
}
