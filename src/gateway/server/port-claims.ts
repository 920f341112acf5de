import { createServer } from 'node:net';

/**
 * Port claims of this process. Its threads share a port with SO_REUSEPORT, and so would another process: an exclusive
 * bind before the first thread listens detects that. A second process that probes between this bind and that of the
 * first thread is not detected.
 */
export interface PortClaims {
  /**
   * Rejects with EADDRINUSE where another process listens. A port already claimed by this process is not probed
   * again.
   */
  claim(thread: number, port: number): Promise<void>;
  release(thread: number, port: number): void;
  /** Releases all claims of a thread. */
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
