import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from './settings.ts';

/** Sources of secrets that definitions refer to instead of containing them. */
export const secretSources = ['conf', 'env', 'file'] as const;
export type SecretSource = (typeof secretSources)[number];

export interface SecretResolver {
  /** Undefined where the source has no such secret. */
  find(place: SecretSource, name: string): string | undefined;
}

/** Definitions can refer to environment variables with this prefix only. */
const secretVariablePrefix = 'GW_SECRET_';
const fileNamePattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}$/;
const maxSecretCharacters = 65_536;

/** Reads secrets whenever a definition is loaded, so that rotation needs no restart. */
export function createSecretResolver(
  settings: Pick<Settings, 'secrets.values' | 'secrets.directory'>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): SecretResolver {
  const values = new Map(Object.entries(settings['secrets.values']));
  const directory = settings['secrets.directory'];
  const sources: Readonly<Record<SecretSource, (name: string) => string | undefined>> = {
    conf: name => values.get(name),
    env: name => environment[secretVariablePrefix + name.toUpperCase()],
    file: name => (directory === '' || !fileNamePattern.test(name) ? undefined : readSecretFile(join(directory, name))),
  };
  return { find: (place, name) => sources[place](name) };
}

/** Text of a secret file, without the trailing line break. */
function readSecretFile(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return text.length > maxSecretCharacters ? undefined : text.replace(/\r?\n$/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'EACCES') return undefined;
    throw error;
  }
}
