import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createPublicId } from '#base/ids.ts';
import { type Environment, escapeReferences } from '#base/object-files/environment-references.ts';
import { toFileName, toVariableName } from '#base/object-files/file-names.ts';
import { formatSortedJson, formatSortedYaml } from '#base/object-files/yaml-writer.ts';
import { redactedText } from '#base/redaction.ts';

/** Files of exported objects: where each is, and its text. */

export interface ObjectExport {
  readonly kind: string;
  readonly id: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** Paths of masked secrets in the spec. */
  readonly secrets?: readonly (readonly (string | number)[])[] | undefined;
}

/** Directory of each kind, in the order of application. */
export const kindDirectories: Readonly<Record<string, string>> = {
  group: 'groups',
  user: 'users',
  webhook: 'webhooks',
  certificate: 'certificates',
  template: 'templates',
  api: 'apis',
  policy: 'policies',
};
export const fileKinds = Object.keys(kindDirectories);

export type FileFormat = 'yaml' | 'json';

export const toFilePath = ({ kind, id }: ObjectExport, format: FileFormat): string =>
  join(kindDirectories[kind]!, `${toFileName(id)}.${format}`);

/** Text of an object file: a reference to an environment variable, with the mask as default, for each secret. */
export function formatObjectFile({ kind, id, spec, secrets = [] }: ObjectExport, format: FileFormat): string {
  const escaped = escapeReferences(spec) as Record<string, unknown>;
  for (const path of secrets) setExisting(escaped, path, `\${env.${toVariableName(kind, id, path)}:-${redactedText}}`);
  const escapedId = escapeReferences(id);
  if (format === 'json') return formatSortedJson({ kind, id: escapedId, spec: escaped });
  return [{ kind }, { id: escapedId }, { spec: escaped }].map(formatSortedYaml).join('');
}

/** The object that its own file stands for: secrets come from the environment where it has them. */
export function resolveExported({ kind, id, spec, secrets = [] }: ObjectExport, environment: Environment) {
  const set = secrets
    .map(path => ({ path, value: environment[toVariableName(kind, id, path)] }))
    .filter(({ value }) => value !== undefined);
  if (set.length === 0) return { kind, id, spec };
  const copy = structuredClone(spec) as Record<string, unknown>;
  for (const { path, value } of set) setExisting(copy, path, value);
  return { kind, id, spec: copy };
}

function setExisting(root: object, path: readonly (string | number)[], value: unknown): void {
  let holder = root as Record<string | number, unknown>;
  for (const segment of path.slice(0, -1)) holder = holder[segment] as Record<string | number, unknown>;
  holder[path.at(-1)!] = value;
}

/** Writes a file by rename, so that no reader sees half of it. */
export function writeObjectFile(directory: string, file: string, text: string): void {
  const path = join(directory, file);
  mkdirSync(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.${createPublicId()}.tmp`);
  writeFileSync(temporary, text, { mode: 0o644 });
  renameSync(temporary, path);
}

export const removeObjectFile = (directory: string, file: string): void => rmSync(join(directory, file));
