import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { formatPath, parseUniqueJson } from '../json.ts';
import { isObject } from '../json-tree.ts';
import { Problem, problems } from '../problems.ts';
import { parseYaml } from '../yaml.ts';
import { type Environment, type ReferenceFault, substituteVariables } from './environment-references.ts';
import { lineOfOffset, locateLine } from './locate-line.ts';

/** A directory of objects: one YAML or JSON file for each, with its kind, its id and its members. */
export interface ObjectFile {
  readonly kind: string;
  readonly id: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Path of its file, relative to the directory. */
  readonly file: string;
}

export interface FileFault {
  readonly file: string;
  readonly line: number;
  /** Member path; empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

export const problem = problems('object_files', {
  directory_unreadable: { status: 400, message: '{path} cannot be read ({reason})' },
  too_many_files: { status: 400, message: '{path} has more than {maxFiles} YAML and JSON files' },
});

const maxObjectFiles = 50_000;
const maxFileBytes = 5_242_880;
/** Bounds one file: real documents average more bytes for each value. */
const maxValuesPerFile = 200_000;
const extensions: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** Relative paths of the YAML and JSON files of a directory, sorted. Names that begin with a dot are left out. */
export function listObjectFiles(directory: string): string[] {
  const files: string[] = [];
  const folders = [directory];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const entry of readEntries(folder)) {
      if (entry.name.startsWith('.')) continue;
      const path = join(folder, entry.name);
      // Links to files are followed, as orchestrators mount them; links to directories are not: they can form a cycle.
      const target = entry.isSymbolicLink() ? statSync(path) : entry;
      if (target.isDirectory() && !entry.isSymbolicLink()) folders.push(path);
      else if (target.isFile() && extensions.has(extname(entry.name))) files.push(relative(directory, path));
      if (files.length > maxObjectFiles)
        throw problem.too_many_files({ detail: { path: directory, maxFiles: maxObjectFiles } });
    }
  return files.sort();
}

function readEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code;
    throw problem.directory_unreadable({ detail: { path: folder, reason }, cause });
  }
}

export interface ReadObjectOptions {
  readonly directory: string;
  readonly kinds: readonly string[];
  readonly environment: Environment;
}

/** Reads objects from files and collects every fault with file and line. */
export function createObjectReader({ directory, kinds, environment }: ReadObjectOptions) {
  const faults: FileFault[] = [];
  const files = new Map<string, string>();

  function readText(file: string): string | undefined {
    const path = join(directory, file);
    try {
      if (statSync(path).size <= maxFileBytes) return readFileSync(path, 'utf8');
      faults.push({ file, line: 1, path: '', message: `is larger than ${maxFileBytes} bytes` });
    } catch (cause) {
      const message = `cannot be read (${(cause as NodeJS.ErrnoException).code})`;
      faults.push({ file, line: 1, path: '', message });
    }
    return undefined;
  }

  function parse(file: string, text: string): ObjectFile | undefined {
    const value = parseFile(file, text, faults);
    if (value === undefined) return undefined;
    const errors = checkEnvelope(value, kinds);
    const references: ReferenceFault[] = [];
    const resolved = substituteVariables(value, environment, references) as ObjectFile;
    errors.push(...references.map(({ path, message }) => ({ path: formatPath(path), message })));
    faults.push(...errors.map(error => ({ file, line: locateLine(text, error.path), ...error })));
    return errors.length > 0 ? undefined : add({ ...resolved, file });
  }

  /** Takes an object into the set; a second one of its kind and id is a fault. */
  function add(object: ObjectFile): ObjectFile {
    const name = `${object.kind} ${object.id}`;
    const other = files.get(name);
    if (other !== undefined)
      faults.push({ file: object.file, line: 1, path: 'id', message: `${other} has the same kind and id` });
    files.set(name, object.file);
    return object;
  }

  return { faults, readText, parse, add };
}

function parseFile(file: string, text: string, faults: FileFault[]): unknown {
  try {
    return file.endsWith('.json') ? parseUniqueJson(text, maxValuesPerFile) : parseYaml(text, maxValuesPerFile);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const message = error.message.replace(/^Request body malformed: /, '').replace(/^Request body /, '');
    const [place, offset] = / at character (\d+)/.exec(message) ?? [];
    const line = offset === undefined ? 1 : lineOfOffset(text, Number(offset));
    faults.push({ file, line, path: '', message: place === undefined ? message : message.replace(place, '') });
    return undefined;
  }
}

const envelopeMembers = ['kind', 'id', 'spec'];

function checkEnvelope(value: unknown, kinds: readonly string[]): { path: string; message: string }[] {
  if (!isObject(value)) return [{ path: '', message: 'must be an object with kind, id and spec' }];
  const { kind, id, spec } = value;
  const errors: { path: string; message: string }[] = [];
  if (typeof kind !== 'string' || !kinds.includes(kind))
    errors.push({ path: 'kind', message: `must be one of ${kinds.join(', ')}` });
  if (typeof id !== 'string' || id === '') errors.push({ path: 'id', message: 'must be a text' });
  if (!isObject(spec)) errors.push({ path: 'spec', message: 'must be an object' });
  const other = Object.keys(value).find(name => !envelopeMembers.includes(name));
  if (other !== undefined) errors.push({ path: other, message: 'no such member: an object has kind, id and spec' });
  return errors;
}

/** Reads all objects of a directory. */
export function readObjectDirectory(options: ReadObjectOptions): { objects: ObjectFile[]; faults: FileFault[] } {
  const reader = createObjectReader(options);
  const objects: ObjectFile[] = [];
  for (const file of listObjectFiles(options.directory)) {
    const text = reader.readText(file);
    const object = text === undefined ? undefined : reader.parse(file, text);
    if (object) objects.push(object);
  }
  return { objects, faults: reader.faults };
}

/** Adds line numbers to faults of objects: `path` is below the object. */
export function locateFaults(
  directory: string,
  faults: readonly { readonly file: string; readonly path: string; readonly message: string }[],
): FileFault[] {
  const texts = new Map<string, string>();
  return faults.map(fault => {
    const text = texts.get(fault.file) ?? readFileSync(join(directory, fault.file), 'utf8');
    texts.set(fault.file, text);
    return { ...fault, line: locateLine(text, fault.path) };
  });
}

export const formatFileFault = ({ file, line, path, message }: FileFault): string =>
  `${file}:${line}: ${path === '' ? '' : `${path}: `}${message}`;
