import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real upstream: echoes requests, or runs the handler of a test. */
export interface Upstream {
  readonly url: string;
  readonly port: number;
  /** What arrived, in order. */
  readonly requests: Received[];
  /** Instead of the echo, from now on. */
  answer: ((request: IncomingMessage, response: ServerResponse, body: string) => void) | undefined;
  close(): Promise<void>;
}

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export async function startUpstream(): Promise<Upstream> {
  const requests: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // An aborted request is not recorded.
    }
    const body = Buffer.concat(chunks).toString();
    const { method, url, headers, rawHeaders } = request;
    const received = { method: method!, url: url!, headers, rawHeaders, body };
    requests.push(received);
    if (upstream.answer) return upstream.answer(request, response, body);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method, url, headers, body }));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream: Upstream = {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    answer: undefined,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return upstream;
}

/** Default timeout of `eventually`: a test that passes never waits that long, however slow the machine. */
export const patience = { ms: 30_000 };
/** Polls once per turn of the event loop, without a timer: for conditions that hold after a few turns. */
const immediateChecks = 50;
/** Longer waits leave the processor to what they wait for. */
const pauseMs = 4;

/** Waits until `check` stops throwing and gives what it returned; fails with its last complaint. */
export async function eventually<T>(check: () => Promise<T> | T, withinMs = patience.ms): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (let checks = 0; ; checks++) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise<unknown>(resolve =>
        checks < immediateChecks ? setImmediate(resolve) : setTimeout(resolve, pauseMs),
      );
    }
  }
}
