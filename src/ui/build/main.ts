import { mkdirSync, rmSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { print, printError, setExitCode } from '#base/process.ts';
import { hashWebAppSources, installedBuilds } from '#operations/web-app/location.ts';
import { buildApps } from './build-apps.ts';

/**
 * Builds the web apps into the first directory that can be written: `node src/ui/build/main.ts [DIRECTORY…]`, by default
 * beside the installed packages. A process of its own, so that the server loads no build tools, at low priority.
 */
const directories = process.argv.length > 2 ? process.argv.slice(2) : [installedBuilds];
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
const directory = directories.find(canWrite);
if (directory === undefined) {
  printError(`no directory can be written: ${directories.join(', ')}`);
  setExitCode(1);
} else {
  const target = join(directory, hashWebAppSources());
  await buildApps(target);
  print(`${target}\n`);
}

function canWrite(path: string): boolean {
  const probe = join(path, `probe-${process.pid}`);
  try {
    mkdirSync(probe, { recursive: true });
    rmSync(probe, { recursive: true });
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOSPC'].includes(code)) return false;
    throw error;
  }
}
