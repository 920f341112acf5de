import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createPublicId } from '#base/ids.ts';

/** Unpacked bundles that the folder of an organisation keeps; the oldest go first, never one in use. */
const maxFolders = 50;

/** Hash of an archive and of the key that verified it: a bundle that another key verified is unpacked again. */
export const hashBundle = (archive: Buffer, keyFingerprint: string): string =>
  createHash('sha256').update(keyFingerprint).update('\0').update(archive).digest('hex').slice(0, 40);

export const isUnpacked = (directory: string, hash: string): boolean => existsSync(join(directory, hash));

/** Writes the files to a folder of their own, whole or not at all; threads and processes may do so at the same time. */
export function unpackBundle(
  directory: string,
  hash: string,
  files: ReadonlyMap<string, Buffer>,
  hashesInUse: ReadonlySet<string>,
): void {
  const folder = join(directory, hash);
  if (existsSync(folder)) return;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const partial = join(directory, `.${createPublicId()}`);
  try {
    mkdirSync(partial);
    for (const [name, content] of files) {
      mkdirSync(dirname(join(partial, name)), { recursive: true });
      writeFileSync(join(partial, name), content, { mode: 0o600, flag: 'wx' });
    }
    renameSync(partial, folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  removeOldFolders(directory, new Set([...hashesInUse, hash]));
}

function removeOldFolders(directory: string, kept: ReadonlySet<string>): void {
  const folders = readdirSync(directory).filter(name => !kept.has(name));
  if (folders.length < maxFolders) return;
  const aged = folders
    .map(name => ({ name, at: statSync(join(directory, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at);
  for (const { name } of aged.slice(maxFolders - 1)) rmSync(join(directory, name), { recursive: true, force: true });
}
