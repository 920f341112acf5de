import { type LinkOptions, redisLink } from './redis-connection.ts';
import type { Blobs } from './shared.ts';

export interface BlobsOptions extends Pick<LinkOptions, 'url' | 'commandTimeoutMs' | 'onState'> {
  readonly prefix: string;
}

/** Bytes on their way to Redis; beyond this they are dropped, as Redis is slower than they come. */
const mostUnderway = 16_777_216;
const nothingOwed = async () => undefined;

/**
 * Bytes in Redis, over a connection of their own: a large one does not keep counters waiting, and a Redis that is full and
 * takes no more of them goes on counting.
 */
export function redisBlobs({ prefix, ...rest }: BlobsOptions) {
  const link = redisLink({ ...rest, catchUp: nothingOwed });
  const full = (name: string) => `${prefix}b:${name}`;
  let underway = 0;

  /** What goes wrong blows the fuse of the link, which says so; a blob may always be missing. */
  async function attempt(args: readonly (string | Buffer)[]): Promise<unknown> {
    if (!link.ready()) return undefined;
    try {
      return await link.bytes(args);
    } catch {
      return undefined;
    }
  }

  const blobs: Blobs = {
    async read(names) {
      const found = await attempt(['MGET', ...names.map(full)]);
      return (found as (Buffer | null)[] | undefined)?.map(it => it ?? undefined);
    },
    write(name, bytes, ttlMs) {
      const restMs = Math.floor(ttlMs);
      if (restMs <= 0 || underway + bytes.length > mostUnderway) return;
      underway += bytes.length;
      void attempt(['SET', full(name), bytes, 'PX', String(restMs)]).then(() => {
        underway -= bytes.length;
      });
    },
    remove: name => void attempt(['UNLINK', full(name)]),
    async settle(name, bytes) {
      await link.bytes(['SET', full(name), bytes]);
    },
  };
  return { blobs, settled: link.settled, close: link.close };
}
