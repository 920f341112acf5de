import { rm } from 'node:fs/promises';
import { type Change, trafficStore } from '#apis/config-reader.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import { createVault } from '#base/vault.ts';
import { openReader } from '#storage/open-reader.ts';
import { problem, writeBackup } from './backup-file.ts';
import { createBackupStore } from './backup-store.ts';
import type { BackupPart } from './config-backup.ts';

export interface BackupWriterOptions {
  readonly url: string;
  readonly path: string;
  readonly dataKey: Buffer;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxBytes?: number;
}

/** How soon a change is in the file. */
const checkIntervalMs = 1000;
/** However much there is to write, it takes a small share of the time of the thread. */
const pausePerWriteFactor = 20;

/** Keeps what traffic is made of in a file, for a start while the database does not answer. One for each process. */
export async function startBackupWriter({ url, path, dataKey, clock, log, maxBytes: mostBytes }: BackupWriterOptions) {
  const vault = createVault(dataKey);
  const reader = await openReader({ url, connections: 1 });
  const store = trafficStore(reader, vault);
  const all = createBackupStore(reader, vault);
  let organisations = new Set<string>();
  /** What the file was written from. */
  let lastWritten = { revision: -1, wrappedKey: '' };
  let pauseMs = checkIntervalMs;
  let isFailing = false;
  let timer: NodeJS.Timeout | undefined;
  let checking = Promise.resolve();

  /** Keys come and go all the time, and are not in it. */
  const affectsBackup = ({ topic, id }: Change) =>
    topic === 'keys' ? id === '' || organisations.has(id) : topic !== 'oauth';

  async function* collectDigests(parts: AsyncIterable<BackupPart>, digests: Set<string>): AsyncGenerator<BackupPart> {
    for await (const part of parts) {
      for (const { digest } of part.organisations ?? []) digests.add(digest);
      yield part;
    }
  }

  async function write(state: typeof lastWritten): Promise<void> {
    const begun = clock.now();
    const digests = new Set<string>();
    try {
      const { wrappedKey } = state;
      await writeBackup(
        { path, url, vault, wrappedKey, nowMs: begun, maxBytes: mostBytes },
        collectDigests(all.parts(), digests),
      );
      organisations = digests;
    } catch (error) {
      if (!(error instanceof Problem && error.code === problem.too_large.code)) throw error;
      // What is there is older than what is served; it must not come back.
      await rm(path, { force: true });
      log.error({ reason: error.message }, 'what traffic is made of is not kept');
    } finally {
      pauseMs = Math.max(checkIntervalMs, pausePerWriteFactor * (clock.now() - begun));
    }
    lastWritten = state;
  }

  async function writeIfChanged(): Promise<void> {
    const state = await all.state();
    if (state.wrappedKey !== lastWritten.wrappedKey) return write(state);
    if (state.revision === lastWritten.revision) return;
    const { changes } = await store.changesSince(lastWritten.revision);
    if (!changes || changes.some(affectsBackup)) return write(state);
    lastWritten = state;
  }

  async function checkOnce(): Promise<void> {
    try {
      await writeIfChanged();
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ reason: (error as Error).message }, 'what traffic is made of could not be kept');
      isFailing = true;
    }
  }

  /** One after the other: there is one draft. */
  function checkNow(): Promise<void> {
    checking = checking.then(checkOnce);
    return checking;
  }

  function schedule(): void {
    timer = setTimeout(() => void checkNow().then(schedule), pauseMs);
    timer.unref();
  }
  schedule();

  return {
    /** Looks now. */
    look: checkNow,
    /** Looks for the last time, unless that failed just now. */
    async close(): Promise<void> {
      clearTimeout(timer);
      await checking;
      clearTimeout(timer);
      if (!isFailing) await checkNow();
      await reader.close();
    },
  };
}
