import { rm } from 'node:fs/promises';
import { type ConfigChange, createConfigReader } from '#apis/config-reader.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import { repeat } from '#base/repeat.ts';
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

/** Delay until a change is in the file. */
const checkIntervalMs = 1000;
/** Pause after a write as a multiple of its duration: bounds the share of the thread's time. */
const pausePerWriteFactor = 20;

/** Config backup writer: one per process keeps the file current, for a start while the database is unavailable. */
export async function startBackupWriter({ url, path, dataKey, clock, log, maxBytes }: BackupWriterOptions) {
  const vault = createVault(dataKey);
  const reader = await openReader({ url, connections: 1 });
  const store = createConfigReader(reader, vault);
  const all = createBackupStore(reader, vault);
  let organisations = new Set<string>();
  /** State that the file was written from. */
  let lastWritten = { revision: -1, wrappedKey: '' };
  let pauseMs = checkIntervalMs;
  let isFailing = false;

  async function write(state: typeof lastWritten): Promise<void> {
    const begun = clock.now();
    const digests = new Set<string>();
    try {
      const { wrappedKey } = state;
      await writeBackup({ path, url, vault, wrappedKey, nowMs: begun, maxBytes }, collectDigests(all.parts(), digests));
      organisations = digests;
    } catch (error) {
      await removeIfTooLarge(path, error, log);
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
    if (!changes || changes.some(change => affectsBackup(change, organisations))) return write(state);
    lastWritten = state;
  }

  async function check(): Promise<void> {
    await writeIfChanged();
    isFailing = false;
  }

  function onError({ message: reason }: Error): void {
    if (!isFailing) log.warn({ reason }, 'config backup not written, retrying');
    isFailing = true;
  }

  // Without overlap: writes share one draft file.
  const checks = repeat(() => pauseMs, check, { onError, unref: true });
  return {
    look: checks.wake,
    /** Checks a last time, unless the previous check failed. */
    async close(): Promise<void> {
      await checks.close();
      if (!isFailing) await check().catch(onError);
      await reader.close();
    },
  };
}

async function* collectDigests(parts: AsyncIterable<BackupPart>, digests: Set<string>): AsyncGenerator<BackupPart> {
  for await (const part of parts) {
    for (const { digest } of part.organisations ?? []) digests.add(digest);
    yield part;
  }
}

/** The existing file is stale then: starting from it would serve an old configuration. Throws any other error. */
async function removeIfTooLarge(path: string, error: unknown, log: Log): Promise<void> {
  if (!(error instanceof Problem && error.code === problem.too_large.code)) throw error;
  await rm(path, { force: true });
  log.error({ reason: error.message }, 'config backup too large, removed');
}

/** Ignores key and OAuth changes: keys are not in the backup, except organisation limits. */
const affectsBackup = ({ topic, id }: ConfigChange, organisations: ReadonlySet<string>) =>
  topic === 'keys' ? id === '' || organisations.has(id) : topic !== 'oauth';
