import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Index of a build, `index.json` in its directory: what the listener serves, and nothing else. */
export interface BuildIndex {
  /** Documents by app, with `{nonce}` in place of the nonce. */
  readonly documents: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, BuiltFile>>;
}

export interface BuiltFile {
  readonly type: string;
  /** Content codings of which a compressed file is beside it, best first. */
  readonly encodings: readonly ContentCoding[];
}

export type ContentCoding = 'br' | 'gzip';

export const buildIndexFile = 'index.json';
export const codingSuffix: Readonly<Record<ContentCoding, string>> = { br: '.br', gzip: '.gz' };

/** Build of the web apps in one directory. Files are read per request: browsers cache them for good. */
export interface BuiltApp {
  readonly index: BuildIndex;
  read(name: string, coding: ContentCoding | undefined): Promise<Buffer>;
}

/** Opens the first build that is there; undefined where none is complete. */
export async function openBuiltApp(directories: readonly string[]): Promise<BuiltApp | undefined> {
  for (const directory of directories) {
    const text = await readIfThere(join(directory, buildIndexFile));
    if (text === undefined) continue;
    const index = JSON.parse(text) as BuildIndex;
    const read = (name: string, coding: ContentCoding | undefined) =>
      readFile(join(directory, name + (coding ? codingSuffix[coding] : '')));
    return { index, read };
  }
  return undefined;
}

/** A directory of another user may be closed: then the next one is used. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) return undefined;
    throw error;
  }
}
