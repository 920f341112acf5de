import { readFileSync, realpathSync, statSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { TemplateError } from './error.ts';

/** Reads a template file. */
export function readTemplateFile(directory: string, name: string): string {
  const path = resolveTemplatePath(directory, name);
  return rethrowFileErrors(name, () => readFileSync(path, 'utf8'));
}

/** Resolves a template file. Symbolic links cannot leave the directory; an empty directory setting allows no file. */
export function resolveTemplatePath(directory: string, name: string): string {
  if (directory === '') throw new TemplateError(`${name} is a file, and templates.directory names no directory`);
  return rethrowFileErrors(name, () => {
    const root = realpathSync(directory);
    const path = realpathSync(resolve(root, name));
    if (!path.startsWith(root + sep)) throw new TemplateError(`the file ${name} is not below templates.directory`);
    if (!statSync(path).isFile()) throw new TemplateError(`${name} is not a file`);
    return path;
  });
}

function rethrowFileErrors<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new TemplateError(`the file ${name} cannot be read: ${code}`);
  }
}
