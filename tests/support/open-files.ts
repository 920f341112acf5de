import { readdirSync, readlinkSync } from 'node:fs';

/** Files below a directory that this process has open. */
export const listOpenFiles = (directory: string): string[] =>
  readdirSync('/proc/self/fd')
    .flatMap(fd => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        // The descriptor of the listing itself, closed since.
        return [];
      }
    })
    .filter(path => path.startsWith(directory))
    .sort();
