import { findStringEnd } from '#base/json-scan.ts';

/** Nesting of a message; deeper ones are refused. */
export const maxMessageDepth = 128;

/** Members that decide on access. Some JSON readers take the first of two, some the last, some ignore case. */
const protectedMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  '': new Set(['jsonrpc', 'method', 'params', 'id', 'result', 'error']),
  params: new Set(['name', 'uri', 'ref']),
  'params.ref': new Set(['name', 'uri', 'type']),
};

export interface MemberScan {
  /** False for a message with a protected member twice or in another spelling, or nested too deeply. */
  readonly isUnambiguous: boolean;
  /** The id as written; empty without one, or where it is an object or array. */
  readonly id: string;
}

const [quote, openBrace, closeBrace, openBracket, closeBracket, comma] = [34, 123, 125, 91, 93, 44];

/** Folds the spellings that case-insensitive readers take for one: ſ is s, and the Kelvin sign is k. */
const foldName = (name: string) => name.normalize('NFKC').toLowerCase();

/** Path of the object whose members are read; undefined where none of them is protected. */
const joinPath = (path: string | undefined, key: string): string | undefined => {
  if (path === undefined) return undefined;
  const inner = path === '' ? key : `${path}.${key}`;
  return Object.hasOwn(protectedMembers, inner) ? inner : undefined;
};

interface Container {
  readonly isObject: boolean;
  readonly path: string | undefined;
  readonly seen: Set<string> | undefined;
  key: string;
}

/**
 * Scans the members of a JSON text that is an object. `JSON.parse` reports errors of syntax and takes the last of two
 * members; the scan finds what other readers would understand in another way.
 */
export function scanMembers(text: string): MemberScan {
  const stack: Container[] = [];
  let top: Container | undefined;
  let isUnambiguous = true;
  let isKeyNext = false;
  let id = '';
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) {
      const end = findStringEnd(text, i);
      if (isKeyNext && top?.seen) isUnambiguous = noteMember(top, text.slice(i, end + 1)) && isUnambiguous;
      isKeyNext = false;
      i = end;
    } else if (code === openBrace || code === openBracket) {
      const isObject = code === openBrace;
      const path = top === undefined ? '' : top.isObject ? joinPath(top.path, top.key) : undefined;
      top = { isObject, path, seen: isObject && path !== undefined ? new Set() : undefined, key: '' };
      stack.push(top);
      if (stack.length > maxMessageDepth) return { isUnambiguous: false, id: '' };
      isKeyNext = isObject;
    } else if (code === closeBrace || code === closeBracket) {
      stack.pop();
      top = stack.at(-1);
      isKeyNext = false;
    } else if (code === comma) isKeyNext = top?.isObject === true;
    else if (code === 58 && stack.length === 1 && top?.key === 'id') id = readScalar(text, i + 1);
  }
  return { isUnambiguous, id };
}

/** False for a protected member that is not spelt as the protocol spells it, or was there before. */
function noteMember(container: Container, raw: string): boolean {
  const key = parseText(raw);
  container.key = key;
  const folded = foldName(key);
  if (!protectedMembers[container.path!]!.has(folded)) return true;
  if (key !== folded || container.seen!.has(key)) return false;
  container.seen!.add(key);
  return true;
}

function parseText(raw: string): string {
  try {
    return String(JSON.parse(raw));
  } catch {
    // The whole text is no JSON then, which its parser reports.
    return '';
  }
}

const scalar = /\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|null)/y;

function readScalar(text: string, from: number): string {
  scalar.lastIndex = from;
  return scalar.exec(text)?.[1] ?? '';
}
