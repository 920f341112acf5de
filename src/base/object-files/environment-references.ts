import { isObject } from '../json-tree.ts';

/**
 * References to environment variables in the texts of a value: `${env.NAME}`, `${env.NAME:-text}` with a default, and
 * `${env.NAME|number}` or `${env.NAME|boolean}` as a whole text. One more `$` in front makes it plain text. Names of
 * members are never references. Only variables with the prefix can be read: an author of files must not get credentials
 * of the process that reads them.
 */
export const referencePrefix = 'GW_VAR_';
const reference = /\$(\$*)\{env\.(?:([A-Za-z_]\w*)(?:\|(number|boolean))?(?::-([^}]*))?\})?/g;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ReferenceFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Replaces all references; errors are collected with their paths. */
export function substituteVariables(
  value: unknown,
  environment: Environment,
  errors: ReferenceFault[],
  path: readonly (string | number)[] = [],
): unknown {
  if (typeof value === 'string') return resolveText(value, environment, message => void errors.push({ path, message }));
  if (Array.isArray(value))
    return value.map((item, at) => substituteVariables(item, environment, errors, [...path, at]));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      substituteVariables(member, environment, errors, [...path, name]),
    ]),
  );
}

function resolveText(text: string, environment: Environment, report: (message: string) => void): unknown {
  if (!text.includes('{env.')) return text;
  let typed: unknown;
  const replaced = text.replaceAll(
    reference,
    (whole, escapes: string, name?: string, type?: string, fallback?: string) => {
      if (escapes !== '') return whole.slice(1);
      const found = name?.startsWith(referencePrefix) ? (environment[name] ?? fallback) : undefined;
      if (name === undefined)
        report('has a reference that is none of ${env.NAME}, ${env.NAME|number}, ${env.NAME:-text}');
      else if (!name.startsWith(referencePrefix))
        report(`the environment variable ${name} cannot be read by files: supply it as ${referencePrefix}${name}`);
      else if (found === undefined) report(`the environment variable ${name} is not set`);
      else if (type !== undefined && whole !== text) report(`${whole} must be the whole text`);
      else if (type !== undefined)
        typed = toTyped(found, type) ?? report(`the environment variable ${name} is no ${type}`);
      return found ?? '';
    },
  );
  return typed === undefined ? replaced : typed;
}

function toTyped(text: string, type: string): number | boolean | undefined {
  if (type === 'boolean') return text === 'true' || (text === 'false' ? false : undefined);
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** Writes texts so that they resolve to themselves. */
export function escapeReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('{env.') ? value.replaceAll(/\$+\{env\./g, '$$$&') : value;
  if (Array.isArray(value)) return value.map(escapeReferences);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, escapeReferences(member)]));
}
