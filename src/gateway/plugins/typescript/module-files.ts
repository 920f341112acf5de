import { posix } from 'node:path';
import { Lru } from '#base/lru.ts';
import { stripTypes, stripTypesAsync } from '#base/strip-types.ts';
import type { StrippedTypes } from '#base/strip-types-worker.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import { type PluginScript, readPluginFile } from '../plugin-files.ts';
import { resolveModuleName } from '../sandbox/sandbox.ts';

/** Files that a plugin may import, itself included. */
const maxModules = 50;
const extensions = ['.ts', '.js'];

/** Specifiers of static and dynamic imports. One inside a text or comment names a file that need not exist. */
const relativeImport = /\b(?:from|import)\s*\(?\s*(['"])(\.{1,2}\/[^'"\n]{1,500})\1/g;

/** Sources stripped ahead of their load, by source. */
const strippedAhead = new Lru<string, StrippedTypes>(4);

/** Strips the types of a source before it is loaded: `compileModules` then does not block the thread for it. */
export async function stripAhead(source: string): Promise<void> {
  const [stripped] = await stripTypesAsync([source]);
  if (stripped) strippedAhead.set(source, stripped);
}

/** Strips types; line numbers stay. An error has the file and line. */
export function compileModules(files: readonly PluginScript[]): PluginScript[] {
  const typed = files.filter(({ name }) => name.endsWith('.ts'));
  if (typed.length === 0) return [...files];
  const ahead = typed.map(({ source }) => strippedAhead.get(source));
  const stripped = ahead.every(it => it !== undefined) ? ahead : stripTypes(typed.map(({ source }) => source));
  const compiled = new Map<PluginScript, PluginScript>();
  for (const [at, file] of typed.entries()) {
    const { code, fault } = stripped[at]!;
    if (fault) throw new ApiCompileError(`a plugin does not load: ${file.name}:${fault.line}: ${fault.message}`);
    compiled.set(file, { name: file.name, source: code });
  }
  return files.map(file => compiled.get(file) ?? file);
}

/** Reads a module and the files that it imports below the directory, each as it is on the disk. */
export function readModuleFiles(directory: string, path: string): PluginScript[] {
  const found = new Map<string, PluginScript>();
  const read = (name: string): void => {
    if (found.size >= maxModules) throw new ApiCompileError(`the plugin ${path} imports more than ${maxModules} files`);
    const { source } = readPluginFile(directory, name, extensions);
    found.set(name, { name, source });
    for (const [, , specifier = ''] of source.matchAll(relativeImport)) {
      const imported = resolveModuleName(name, specifier);
      if (!found.has(imported)) readImported(imported, name);
    }
  };
  const readImported = (name: string, importer: string): void => {
    try {
      read(name);
    } catch (error) {
      if (!(error instanceof ApiCompileError)) throw error;
      throw new ApiCompileError(`${importer} imports ${name}: ${error.message}`);
    }
  };
  read(posix.normalize(path));
  return [...found.values()];
}
