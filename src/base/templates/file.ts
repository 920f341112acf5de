import { readFileSync, realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { TemplateFault } from './fault.ts';

/** The text of a template file. Only files below the directory are read, whatever links say; an empty one holds none. */
export function templateFile(directory: string, name: string): string {
  if (directory === '') throw new TemplateFault(`${name} is a file, and templates.directory names no directory`);
  try {
    const root = realpathSync(directory);
    const path = realpathSync(resolve(root, name));
    if (path.startsWith(root + sep)) return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new TemplateFault(`the file ${name} cannot be read: ${code}`);
  }
  throw new TemplateFault(`the file ${name} is not below templates.directory`);
}
