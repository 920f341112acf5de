import { createServer, type Server, type ServerResponse } from 'node:http';

export interface GatewayOptions {
  readonly hello: () => Promise<unknown>;
  readonly ready: () => boolean;
}

/** The traffic listener. It serves its own health and nothing else until APIs are routed. */
export function createGateway({ hello, ready }: GatewayOptions): Server {
  const json = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  return createServer(async (request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/hello') return json(response, 200, await hello());
    if (path === '/live') return json(response, 200, { message: 'Success' });
    if (path === '/ready') return json(response, ready() ? 200 : 503, { message: ready() ? 'Success' : 'Not ready' });
    return response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('Not Found');
  });
}
