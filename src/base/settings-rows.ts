/** A row of the settings table. `read` parses a value of a file, or text of the environment or a flag. */
export interface Setting<T> {
  readonly rule: string;
  readonly default: T;
  readonly about: string;
  readonly secret: boolean;
  /** Values of a choice. */
  readonly options?: readonly string[];
  /** Text of several lines. */
  readonly isMultiline?: boolean;
  /** False for a flag that takes no value; true by default. */
  readonly needsValue?: boolean;
  read(value: unknown): T;
}

/** The value is invalid; `readSettings` adds the setting and its source. */
export class SettingError extends Error {}

const refuse = (message: string): never => {
  throw new SettingError(message);
};

export const text = (fallback: string, about: string): Setting<string> => ({
  rule: 'text',
  default: fallback,
  about,
  secret: false,
  read: value => (typeof value === 'string' ? value : refuse('must be text')),
});

/** Characters of a text of several lines: all that a request of the management API may have of one. */
export const maxMultilineChars = 65_536;

/** Text of several lines that `find` checks: it returns what is wrong, or undefined. */
export const multilineText = (rule: string, find: (value: string) => string | undefined, about: string) =>
  ({
    ...text('', about),
    rule,
    isMultiline: true,
    read(value) {
      if (typeof value !== 'string') return refuse('must be text');
      const lines = value.replaceAll('\r\n', '\n');
      if (lines.length > maxMultilineChars) return refuse(`must have at most ${maxMultilineChars} characters`);
      const fault = find(lines);
      return fault === undefined ? lines : refuse(fault);
    },
  }) satisfies Setting<string>;

/** An `http` or `https` address, a path of this server, or none. */
const pageAddress = (about: string): Setting<string> => ({
  ...text('', about),
  rule: 'address or path',
  read: value =>
    typeof value === 'string' && (/^(\/(?![/\\])[^\s\\]*)?$/.test(value) || /^https?:\/\/[^\s\\]+$/.test(value))
      ? value
      : refuse('must be an http or https address, or a path that begins with one /'),
});

/** Pages of the portal that lead to its sign-in page, which would lead back to them. */
const signInPages = /^\/(auth\/password\/login(?![^#]*[?&]local=1(&|#|$))|portal\/private|admin)(?=[/?#]|$)/;

/** True for an address, without its origin, that leads back to the sign-in page of the portal. */
export const leadsToSignIn = (path: string): boolean => signInPages.test(path);

/** Address of a page in place of the sign-in page of the portal; empty for none. */
export const signInAddress = (about: string): Setting<string> => {
  const row = pageAddress(about);
  return {
    ...row,
    read: value => {
      const address = row.read(value);
      return leadsToSignIn(address)
        ? refuse('must not lead to the sign-in page itself, which redirects there')
        : address;
    },
  };
};

/** A colour of six hexadecimal digits, or none. */
export const hexColor = (about: string): Setting<string> => ({
  ...text('', about),
  rule: 'colour such as `#4f56d8`',
  read: value =>
    typeof value === 'string' && /^(#[0-9a-f]{6})?$/i.test(value) ? value : refuse('must be a colour such as #4f56d8'),
});

export const secret = (about: string): Setting<string> => ({ ...text('', about), secret: true });

export function count(fallback: number, about: string, range: { min?: number; max?: number } = {}): Setting<number> {
  const min = range.min ?? 0;
  const max = range.max ?? Number.MAX_SAFE_INTEGER;
  return {
    rule: `whole number, ${min} to ${max}`,
    default: fallback,
    about,
    secret: false,
    read(value) {
      const number = typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : value;
      if (typeof number !== 'number' || !Number.isInteger(number)) return refuse('must be a whole number');
      return number < min || number > max ? refuse(`must be from ${min} to ${max}`) : number;
    },
  };
}

export const port = (fallback: number, about: string): Setting<number> => count(fallback, about, { max: 65_535 });

const booleanWords = new Map(['true', 'yes', 'on', '1'].map(word => [word, true]));
for (const word of ['false', 'no', 'off', '0']) booleanWords.set(word, false);

export const flag = (fallback: boolean, about: string): Setting<boolean> => ({
  rule: 'true or false',
  default: fallback,
  about,
  secret: false,
  needsValue: false,
  read: value => booleanWords.get(String(value).trim().toLowerCase()) ?? refuse('must be true or false'),
});

export function choice<const T extends string>(options: readonly T[], fallback: NoInfer<T>, about: string): Setting<T> {
  return {
    rule: options.join(', '),
    options,
    default: fallback,
    about,
    secret: false,
    read: value => options.find(option => option === value) ?? refuse(`must be one of ${options.join(', ')}`),
  };
}

export const list = (about: string): Setting<readonly string[]> => ({
  rule: 'list of text (comma separated in the environment)',
  default: [],
  about,
  secret: false,
  read(value) {
    const items =
      typeof value === 'string'
        ? value
            .split(',')
            .map(item => item.trim())
            .filter(Boolean)
        : value;
    if (Array.isArray(items) && items.every((item): item is string => typeof item === 'string')) return items;
    return refuse('must be a list of text');
  },
});

/** A list that `check` validates when settings are read; it throws a `SettingError`. */
export function listWithCheck(check: (items: readonly string[]) => void, about: string): Setting<readonly string[]> {
  const plain = list(about);
  return {
    ...plain,
    read(value) {
      const items = plain.read(value);
      check(items);
      return items;
    },
  };
}

/** A share: a number from 0 to 1. */
export const share = (fallback: number, about: string): Setting<number> => ({
  rule: 'number, 0 to 1',
  default: fallback,
  about,
  secret: false,
  read(value) {
    const number = typeof value === 'string' && /^\d*\.?\d+$/.test(value.trim()) ? Number(value) : value;
    return typeof number === 'number' && number >= 0 && number <= 1 ? number : refuse('must be a number from 0 to 1');
  },
});

/** A list of objects: a list in a file, JSON in the environment. The reader of the setting checks the objects. */
export const objectList = (about: string): Setting<readonly object[]> => ({
  rule: 'list of objects (JSON in the environment)',
  default: [],
  about,
  secret: false,
  read(value) {
    const items = typeof value === 'string' ? (value.trim() === '' ? [] : parseJsonText(value)) : value;
    const isList =
      Array.isArray(items) && items.every(it => typeof it === 'object' && it !== null && !Array.isArray(it));
    return isList ? (items as object[]) : refuse('must be a list of objects');
  },
});

/** URL of a collector; empty for none. */
export const collectorUrl = (about: string): Setting<string> => ({
  ...text('', about),
  rule: 'URL (http, https)',
  read(value) {
    if (value === '') return '';
    const url = typeof value === 'string' ? URL.parse(value) : null;
    const isUsable = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
    return isUsable ? (value as string) : refuse('must be an http or https URL without a user name');
  },
});

/** A list of one or more of the options. */
export function choiceList<const T extends string>(
  options: readonly T[],
  fallback: NoInfer<readonly T[]>,
  about: string,
): Setting<readonly T[]> {
  const plain = list(about);
  const isOption = (item: string): item is T => options.some(option => option === item);
  return {
    ...plain,
    rule: `list of ${options.join(', ')}`,
    default: fallback,
    read(value) {
      const items = plain.read(value);
      if (items.length > 0 && items.every(isOption)) return items;
      return refuse(`must hold one or more of ${options.join(', ')}`);
    },
  };
}

/** Override of status and message of an error; absent members keep the default. */
export interface MessageOverride {
  readonly status?: number;
  readonly message?: string;
}

/** Message overrides by error code: an object in a file, JSON in the environment. */
export const messageOverrides = (about: string): Setting<Readonly<Record<string, MessageOverride>>> => ({
  rule: '`status` and `message` by code (JSON in the environment)',
  default: {},
  about,
  secret: false,
  read: value =>
    Object.fromEntries(
      members(typeof value === 'string' ? parseJsonText(value) : value).map(([code, it]) => [
        code,
        toMessageOverride(code, it),
      ]),
    ),
});

function toMessageOverride(code: string, given: unknown): MessageOverride {
  const { status, message, ...rest } = Object.fromEntries(members(given)) as Record<string, unknown>;
  if (Object.keys(rest).length > 0) refuse(`${code} may hold status and message only`);
  if (status !== undefined && !(Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599))
    refuse(`${code}.status must be from 400 to 599`);
  if (message !== undefined && typeof message !== 'string') refuse(`${code}.message must be text`);
  if (status === undefined && message === undefined) refuse(`${code} must hold status or message`);
  return given as MessageOverride;
}

const members = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
    : refuse('must be values by name');

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuse('must be JSON');
  }
}

/** Secrets by name: an object in a file, JSON in the environment. */
export const secretMap = (about: string): Setting<Readonly<Record<string, string>>> => ({
  rule: 'text by name (JSON in the environment)',
  default: {},
  about,
  secret: true,
  read(value) {
    const given = members(typeof value === 'string' ? parseJsonText(value) : value);
    for (const [name, it] of given) if (typeof it !== 'string') refuse(`${name} must be text`);
    return Object.fromEntries(given) as Record<string, string>;
  },
});

/** Values by name: an object in a file, JSON in the environment. The reader of the setting checks what they hold. */
export const jsonObject = (about: string): Setting<Readonly<Record<string, unknown>>> => ({
  rule: 'values by name (JSON in the environment)',
  default: {},
  about,
  secret: false,
  read: value => Object.fromEntries(members(typeof value === 'string' ? parseJsonText(value) : value)),
});

/**
 * Lists of objects by name: an object in a file, JSON in the environment. The reader of the setting checks the objects.
 */
export const objectLists = (about: string): Setting<Readonly<Record<string, readonly object[]>>> => ({
  rule: 'lists by name (JSON in the environment)',
  default: {},
  about,
  secret: true,
  read: value =>
    Object.fromEntries(
      members(typeof value === 'string' ? parseJsonText(value) : value).map(([name, it]) => {
        const isList = Array.isArray(it) && it.every(entry => typeof entry === 'object' && entry !== null);
        return [name, isList ? (it as object[]) : refuse(`${name} must be a list of objects`)];
      }),
    ),
});

/** Name of a header to send; empty sends none. */
export const headerName = (about: string): Setting<string> => ({
  ...text('', about),
  rule: 'name of a header',
  read: value =>
    typeof value === 'string' && /^[A-Za-z0-9-]{0,64}$/.test(value)
      ? value
      : refuse('must be letters, digits and hyphens, 64 at most'),
});

/** One segment of a path. */
export const pathSegment = (fallback: string, about: string): Setting<string> => ({
  ...text(fallback, about),
  rule: 'one segment of a path',
  read: value =>
    typeof value === 'string' && /^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,63}$/.test(value)
      ? value
      : refuse('must be letters, digits and `-._~`, 64 at most, and not begin with a dot'),
});
