import type { ServerResponse } from 'node:http';
import { type Clock, isoTime } from '#base/clock.ts';

export interface OwnPathsOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly isLoaded: () => boolean;
  /** What the gateway leans on, by name: empty text, or what to tell an outsider. */
  readonly parts: () => Readonly<Record<string, string>>;
}

/** The gateway's own paths, which no API can take. */
export function ownPaths({ version, clock, isLoaded, parts }: OwnPathsOptions) {
  function hello() {
    const found = Object.entries(parts());
    const time = isoTime(clock.now());
    const details = Object.fromEntries(
      found.map(([name, output]) => [
        name,
        { status: output ? 'fail' : 'pass', componentType: 'datastore', time, ...(output && { output }) },
      ]),
    );
    const failing = found.filter(([, output]) => output).length;
    const status = failing === 0 ? 'pass' : failing === found.length ? 'fail' : 'warn';
    return { status, version, description: 'Gatewright gateway', details };
  }

  const answers: Readonly<Record<string, () => [status: number, body: unknown]>> = {
    '/live': () => [200, { message: 'Success' }],
    '/hello': () => [200, hello()],
    '/ready': () => (isLoaded() ? [200, { message: 'Success' }] : [503, { message: 'Not ready' }]),
  };

  return (path: string, response: ServerResponse): boolean => {
    if (!Object.hasOwn(answers, path)) return false;
    const { method } = response.req;
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { 'Content-Type': 'text/plain; charset=utf-8', Allow: 'GET, HEAD' });
      response.end('Method Not Allowed');
      return true;
    }
    const [status, body] = answers[path]!();
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    return true;
  };
}
