import {
  type FieldPath,
  type FormObject,
  readFieldValue,
  toJsonObject,
  withMember,
} from '../apis/form/json-members.ts';

/** Endpoint that sends an operation of the definition to the upstream. */
export interface PersistedEntry {
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly variables: FormObject;
}

const versionsPath = ['version_data', 'versions'];
export const defaultVersion = 'Default';

/** Names of the versions inside of a classic definition. */
export function listInnerVersions(definition: unknown): readonly string[] {
  const names = Object.keys(toJsonObject(readFieldValue(definition, versionsPath)));
  return names.length === 0 ? [defaultVersion] : names;
}

export const toEntriesPath = (version: string): FieldPath => [
  ...versionsPath,
  version,
  'extended_paths',
  'persist_graphql',
];

export function listPersistedEntries(definition: unknown, version: string): readonly PersistedEntry[] {
  const entries = readFieldValue(definition, toEntriesPath(version));
  return (Array.isArray(entries) ? entries : []).map(toJsonObject).map(({ method, path, operation, variables }) => ({
    method: String(method ?? ''),
    path: String(path ?? ''),
    operation: String(operation ?? ''),
    variables: toJsonObject(variables),
  }));
}

/** Copy with a member of one entry changed; other members of the entry stay. */
export const withEntryMember = (
  definition: unknown,
  version: string,
  index: number,
  change: Partial<PersistedEntry>,
): unknown =>
  Object.entries(change).reduce(
    (edited: unknown, [name, value]) => withMember(edited, [...toEntriesPath(version), index, name], value),
    definition,
  );

/**
 * Copy with another entry at the end. Lists of endpoints have an effect only with `use_extended_paths`; a definition
 * without versions gets one, which requests need not name.
 */
export function withNewEntry(definition: unknown, version: string, entry: PersistedEntry): unknown {
  const entries = readFieldValue(definition, toEntriesPath(version));
  const isFirst = readFieldValue(definition, [...versionsPath, version]) === undefined;
  const named = isFirst
    ? withMember(
        withMember(definition, ['version_data', 'not_versioned'], true),
        [...versionsPath, version, 'name'],
        version,
      )
    : definition;
  const enabled = withMember(named, [...versionsPath, version, 'use_extended_paths'], true);
  return withMember(enabled, toEntriesPath(version), [...(Array.isArray(entries) ? entries : []), entry]);
}

export const withoutEntry = (definition: unknown, version: string, index: number): unknown =>
  withMember(definition, [...toEntriesPath(version), index], undefined);

/** Name of the first operation of a document; empty where it has none. */
export const readOperationName = (operation: string): string =>
  /\b(?:query|mutation|subscription)\s+(\w+)/.exec(operation.replaceAll(/#[^\n]*/g, ''))?.[1] ?? '';
