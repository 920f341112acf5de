import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { loadYaml } from '#base/lazy-packages.ts';
import { problem } from '../problems.ts';
import type { PlanBuilder } from './plan.ts';

/** File of an export, as text. */
export interface ExportFile {
  /** Path below the directory. */
  readonly path: string;
  readonly text: string;
}

const maxFiles = 20_000;
const maxDepth = 10;
const maxFileBytes = 50_000_000;
const ignoredNames = /^(\.git|node_modules)$/;

/** Reads the files of a directory, or one file, in a stable order. Symbolic links are not followed. */
export function readExports(path: string, pattern: RegExp, plan: PlanBuilder): ExportFile[] {
  const files: ExportFile[] = [];
  const read = (file: string, name: string) => {
    if (statSync(file).size > maxFileBytes)
      return plan.leaveOut(name, 'file', `it has more than ${maxFileBytes} bytes`);
    if (files.length >= maxFiles) throw problem.too_many_files({ detail: { path, maxFiles } });
    files.push({ path: name, text: readFileSync(file, 'utf8').replace(/^\uFEFF/, '') });
  };
  const walk = (directory: string, depth: number) => {
    if (depth > maxDepth) return plan.leaveOut(relative(path, directory), 'directory', `it is deeper than ${maxDepth}`);
    const entries = readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const inside = join(directory, entry.name);
      if (entry.isDirectory() && !ignoredNames.test(entry.name)) walk(inside, depth + 1);
      else if (entry.isFile() && pattern.test(entry.name)) read(inside, relative(path, inside));
    }
  };
  try {
    if (statSync(path).isDirectory()) walk(path, 0);
    else read(path, basename(path));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw problem.unreadable({ detail: { path, reason: code }, cause });
  }
  return files;
}

/** Uses of one YAML anchor: exports repeat the same limits in hundreds of definitions. */
const maxAliases = 10_000;

/**
 * Values of a JSON or YAML file, with anchors and merge keys; several documents are several values. Undefined where the
 * file is neither; the plan has the line then, not the text, which may be a secret.
 */
export function parseExport({ path, text }: ExportFile, plan: PlanBuilder): unknown[] | undefined {
  if (/^\s*[[{]/.test(text)) {
    try {
      return [JSON.parse(text)];
    } catch {
      // A flow collection of YAML also begins with a bracket.
    }
  }
  try {
    const parsed = loadYaml().parseAllDocuments(text, { merge: true, logLevel: 'error' });
    const documents = Array.isArray(parsed) ? parsed : [];
    const [error] = documents.flatMap(it => it.errors);
    if (!error) return documents.map(it => it.toJS({ maxAliasCount: maxAliases }) as unknown).filter(it => it !== null);
    const line = error.linePos?.[0].line;
    plan.leaveOut(path, 'file', `invalid JSON or YAML${line === undefined ? '' : ` (line ${line})`}`);
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause;
    plan.leaveOut(path, 'file', 'it has too many aliases');
  }
  return undefined;
}
