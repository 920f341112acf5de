import { access, readFile } from 'node:fs/promises';
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
  /** Check of a file, or of those that documents name: a tool may have emptied the directory. */
  isThere(name?: string): Promise<boolean>;
}

const isMissing = (error: unknown) =>
  ['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Opens the first build whose files are all there; undefined where none is complete. */
export async function openBuiltApp(directories: readonly string[]): Promise<BuiltApp | undefined> {
  for (const directory of directories) {
    const index = await readIndex(directory);
    if (index === undefined || !(await hasFiles(directory, listStoredFiles(index)))) continue;
    const firstFiles = listFirstFiles(index);
    return {
      index,
      read: (name, coding) => readFile(join(directory, name + (coding ? codingSuffix[coding] : ''))),
      isThere: name => hasFiles(directory, name === undefined ? firstFiles : listStoredFiles(index, [name])),
    };
  }
  return undefined;
}

/** A directory of another user may be closed: then the next one is used. */
async function readIndex(directory: string): Promise<BuildIndex | undefined> {
  try {
    return JSON.parse(await readFile(join(directory, buildIndexFile), 'utf8')) as BuildIndex;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const listStoredFiles = ({ files }: BuildIndex, names = Object.keys(files)) =>
  names
    .filter(name => Object.hasOwn(files, name))
    .flatMap(name => [name, ...files[name]!.encodings.map(it => name + codingSuffix[it])]);

/** Files that a document names. */
function listFirstFiles({ documents, files }: BuildIndex): readonly string[] {
  const all = Object.values(documents).join();
  return Object.keys(files).filter(name => all.includes(`/${name}"`));
}

async function hasFiles(directory: string, names: readonly string[]): Promise<boolean> {
  try {
    await Promise.all(names.map(name => access(join(directory, name))));
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** A complete build can be served. */
export const isCompleteBuild = async (directory: string): Promise<boolean> =>
  (await openBuiltApp([directory])) !== undefined;
