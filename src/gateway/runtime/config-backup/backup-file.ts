import { open, rename, rm } from 'node:fs/promises';
import { formatIsoTime } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import { problems } from '#base/problems.ts';
import { createVault, type Vault } from '#base/vault.ts';
import { tryUnwrapDataKey } from '#storage/meta.ts';
import { migrations } from '#storage/migrations/list.ts';
import { inheritOwner } from '#storage/private-files.ts';
import { type BackupPart, type ConfigBackup, joinParts } from './config-backup.ts';

export const problem = problems('config_backup', {
  unusable: { status: 500, message: 'The config backup cannot be used: {reason}' },
  another_database: {
    status: 503,
    message:
      'The database is not the one that the config backup was made of: restart this process to serve that database',
  },
  too_large: {
    status: 507,
    message: 'The configuration is larger than {maxBytes} bytes: it is not saved as a config backup',
  },
});

/**
 * File format: a header line, then sealed parts, the last marked as the end. Each part is sealed with the database's
 * data key, bound to its index in this file. The header holds the data key wrapped under the master key: the file
 * alone reveals nothing.
 */
const format = 1;
/** The file is read into memory whole. */
const defaultMaxBytes = 256 * 1024 * 1024;

interface Head {
  readonly format: number;
  /** Migration count of the database: rows of another schema may not parse. */
  readonly schema: number;
  readonly id: string;
  readonly written_at: string;
  /** Digest of the database URL. */
  readonly database: string;
  readonly data_key: string;
}

const digestDatabase = (vault: Vault, url: string) => vault.digest(url, 'known traffic');
const toSealPurpose = ({ format: form, schema, id, written_at, database }: Head, place: number) =>
  `known traffic/${form}/${schema}/${id}/${written_at}/${database}/${place}`;

export interface WriteBackupOptions {
  readonly path: string;
  readonly url: string;
  readonly vault: Vault;
  readonly wrappedKey: string;
  readonly nowMs: number;
  readonly maxBytes?: number | undefined;
}

/** Atomic write by rename: a crash leaves the old file or the new one. */
export async function writeBackup(options: WriteBackupOptions, parts: AsyncIterable<BackupPart>): Promise<void> {
  const { path, url, vault, wrappedKey, nowMs, maxBytes = defaultMaxBytes } = options;
  const head: Head = {
    format,
    schema: migrations.length,
    id: createPublicId(),
    written_at: formatIsoTime(nowMs),
    database: digestDatabase(vault, url),
    data_key: wrappedKey,
  };
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      inheritOwner(file.fd, path);
      let bytes = 0;
      const add = async (line: string) => {
        bytes += line.length + 1;
        if (bytes > maxBytes) throw problem.too_large({ detail: { maxBytes } });
        await file.write(`${line}\n`);
      };
      let place = 0;
      const seal = (part: BackupPart | { end: true }) =>
        add(vault.seal(JSON.stringify(part), toSealPurpose(head, place++)));
      await add(JSON.stringify(head));
      for await (const part of parts) await seal(part);
      await seal({ end: true });
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

export interface OpenedBackup {
  readonly backup: ConfigBackup;
  readonly dataKey: Buffer;
  readonly writtenAt: string;
}

/** Unseals a backup file with one of the master keys. */
export function readBackup(text: string, url: string, masterKeys: readonly string[]): OpenedBackup {
  const unusable = (reason: string) => problem.unusable({ detail: { reason } });
  const [first = '', ...lines] = text.split('\n');
  const head = parseHead(first);
  if (!head) throw unusable('the file is damaged');
  if (head.format !== format || head.schema !== migrations.length) throw unusable('another release wrote the file');
  const dataKey = masterKeys.map(key => tryUnwrapDataKey(head.data_key, key)).find(key => key !== undefined);
  if (!dataKey) throw unusable('the master key cannot decrypt it');
  const vault = createVault(dataKey);
  if (head.database !== digestDatabase(vault, url)) throw unusable('it belongs to another database');
  // The text ends with a newline, and no part may follow the end marker.
  const parts = lines.slice(0, -1).map((line, place) => unsealPart(vault, line, toSealPurpose(head, place)));
  if (lines.at(-1) !== '' || !parts.every(part => part !== undefined) || !parts.pop()?.end)
    throw unusable('the file is damaged');
  return { backup: joinParts(parts), dataKey, writtenAt: head.written_at };
}

function parseHead(line: string): Head | undefined {
  try {
    return JSON.parse(line) as Head;
  } catch {
    // Not a backup; a parse error would quote its content.
    return undefined;
  }
}

function unsealPart(vault: Vault, line: string, purpose: string): (BackupPart & { end?: true }) | undefined {
  try {
    return JSON.parse(vault.open(line, purpose)) as BackupPart & { end?: true };
  } catch {
    // Tampered, truncated or reordered.
    return undefined;
  }
}
