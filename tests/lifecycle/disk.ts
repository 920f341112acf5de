import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Child } from '../support/gw-process.ts';

/** A disk that is full, or can be filled under a running child. */
export interface SmallDisk {
  readonly path: string;
  /** Options to start the child with. */
  readonly prefix: readonly string[];
  /** The error of a write while the disk is full. */
  readonly refusal: { readonly statuses: readonly number[]; readonly message: RegExp };
  fill(child: Child): void;
  free(child: Child): void;
  remove(): void;
}

/** A small tmpfs; without the permission to mount one, a file size limit (RLIMIT_FSIZE), which also fails writes. */
export function smallDisk(path: string, kilobytes: number): SmallDisk {
  mkdirSync(path, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    // Not allowed here, as in most containers.
    return createLimitedDisk(path, kilobytes);
  }
  const filler = join(path, 'filler');
  return {
    path,
    prefix: [],
    refusal: { statuses: [507], message: /^The disk is full: nothing was changed$/ },
    fill: () => fillUp(filler),
    free: () => rmSync(filler),
    remove: () => void execFileSync('umount', ['-l', path]),
  };
}

function fillUp(filler: string): void {
  const file = openSync(filler, 'a');
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

function createLimitedDisk(path: string, kilobytes: number): SmallDisk {
  const limit = ({ process: { pid } }: Child, bytes: string) =>
    void execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
  return {
    path,
    // SIGXFSZ is ignored, so that the write fails with an error.
    prefix: ['sh', '-c', `trap '' XFSZ; ulimit -S -f ${kilobytes * 2}; exec "$@"`, 'sh'],
    refusal: { statuses: [500, 507], message: /^The (disk is full|database is read-only): .+$/ },
    fill: child => limit(child, String(statSync(join(path, 'gw.db-wal')).size)),
    free: child => limit(child, 'unlimited'),
    remove: () => undefined,
  };
}
