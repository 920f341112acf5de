import { createServer } from 'node:net';

/**
 * Ports of this process. Its threads share a port with SO_REUSEPORT, and so would another process: an exclusive bind
 * before the first of them listens finds out whether somebody else does. A second process that probes in the moment between
 * this bind and that of the first thread is not seen.
 */
export interface PortClaims {
  /** Fails with EADDRINUSE where another process listens. A port that a thread of this process has is not probed again. */
  claim(thread: number, port: number): Promise<void>;
  release(thread: number, port: number): void;
  /** Releases everything a thread had. */
  releaseAll(thread: number): void;
}

export function createPortClaims(host: string, probe = bindExclusively): PortClaims {
  const claims = new Map<number, { readonly threads: Set<number>; readonly probed: Promise<void> }>();

  function release(thread: number, port: number): void {
    const found = claims.get(port);
    found?.threads.delete(thread);
    if (found?.threads.size === 0) claims.delete(port);
  }

  return {
    async claim(thread, port) {
      let found = claims.get(port);
      if (!found) {
        found = { threads: new Set(), probed: probe(host, port) };
        claims.set(port, found);
      }
      found.threads.add(thread);
      try {
        await found.probed;
      } catch (error) {
        release(thread, port);
        throw error;
      }
    },
    release,
    releaseAll(thread) {
      for (const port of [...claims.keys()]) release(thread, port);
    },
  };
}

function bindExclusively(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true, backlog: 1 }, () => server.close(() => resolve()));
  });
}
