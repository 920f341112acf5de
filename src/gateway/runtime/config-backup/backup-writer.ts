import { rm } from 'node:fs/promises';
import { type Change, trafficStore } from '#apis/config-reader.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import { createVault } from '#base/vault.ts';
import { openReader } from '#storage/open-reader.ts';
import { problem, writeKnown } from './backup-file.ts';
import { knownStore } from './backup-store.ts';
import type { Part } from './config-backup.ts';

export interface KeeperOptions {
  readonly url: string;
  readonly path: string;
  readonly dataKey: Buffer;
  readonly clock: Clock;
  readonly log: Log;
  readonly mostBytes?: number;
}

/** How soon a change is in the file. */
const lookEveryMs = 1000;
/** However much there is to write, it takes a small share of the time of the thread. */
const restAfterWriting = 20;

/** Keeps what traffic is made of in a file, for a start while the database does not answer. One for each process. */
export async function startKeeping({ url, path, dataKey, clock, log, mostBytes }: KeeperOptions) {
  const vault = createVault(dataKey);
  const reader = await openReader({ url, connections: 1 });
  const store = trafficStore(reader, vault);
  const all = knownStore(reader, vault);
  let organisations = new Set<string>();
  /** What the file was written from. */
  let kept = { revision: -1, wrappedKey: '' };
  let pauseMs = lookEveryMs;
  let isTroubled = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = Promise.resolve();

  /** Keys come and go all the time, and are not in it. */
  const matters = ({ topic, id }: Change) =>
    topic === 'keys' ? id === '' || organisations.has(id) : topic !== 'oauth';

  async function* noting(parts: AsyncIterable<Part>, digests: Set<string>): AsyncGenerator<Part> {
    for await (const part of parts) {
      for (const { digest } of part.organisations ?? []) digests.add(digest);
      yield part;
    }
  }

  async function write(state: typeof kept): Promise<void> {
    const begun = clock.now();
    const digests = new Set<string>();
    try {
      const { wrappedKey } = state;
      await writeKnown({ path, url, vault, wrappedKey, nowMs: begun, mostBytes }, noting(all.parts(), digests));
      organisations = digests;
    } catch (error) {
      if (!(error instanceof Problem && error.code === problem.too_large.code)) throw error;
      // What is there is older than what is served; it must not come back.
      await rm(path, { force: true });
      log.error({ reason: error.message }, 'what traffic is made of is not kept');
    } finally {
      pauseMs = Math.max(lookEveryMs, restAfterWriting * (clock.now() - begun));
    }
    kept = state;
  }

  async function follow(): Promise<void> {
    const state = await all.state();
    if (state.wrappedKey !== kept.wrappedKey) return write(state);
    if (state.revision === kept.revision) return;
    const { changes } = await store.changesSince(kept.revision);
    if (!changes || changes.some(matters)) return write(state);
    kept = state;
  }

  async function turn(): Promise<void> {
    try {
      await follow();
      isTroubled = false;
    } catch (error) {
      if (!isTroubled) log.warn({ reason: (error as Error).message }, 'what traffic is made of could not be kept');
      isTroubled = true;
    }
  }

  /** One after the other: there is one draft. */
  function look(): Promise<void> {
    looking = looking.then(turn);
    return looking;
  }

  function schedule(): void {
    timer = setTimeout(() => void look().then(schedule), pauseMs);
    timer.unref();
  }
  schedule();

  return {
    /** Looks now. */
    look,
    /** Looks for the last time, unless that failed just now. */
    async close(): Promise<void> {
      clearTimeout(timer);
      await looking;
      clearTimeout(timer);
      if (!isTroubled) await look();
      await reader.close();
    },
  };
}
