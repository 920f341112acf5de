import { findStringEnd } from './json-scan.ts';

/** An open object or array. */
interface Frame {
  /** Member names so far; undefined in an array. */
  readonly names: Set<string> | undefined;
  /** The member or item being read. */
  at: string | number;
}

/**
 * Duplicate member names (RFC 8259, 4): the path of the first member whose name its object already has, or undefined.
 * Parsers differ in which of the two they use, so that one could check what another does not use. The text must be
 * JSON.
 */
export function findDuplicateMember(text: string): (string | number)[] | undefined {
  const open: Frame[] = [];
  let frame: Frame | undefined;
  let expectsName = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{' || character === '[') {
      expectsName = character === '{';
      frame = expectsName ? { names: new Set(), at: '' } : { names: undefined, at: 0 };
      open.push(frame);
    } else if (character === '}' || character === ']') {
      open.pop();
      frame = open.at(-1);
    } else if (character === ',') {
      expectsName = frame?.names !== undefined;
      if (frame && typeof frame.at === 'number') frame.at++;
    } else if (character === '"') {
      const end = findStringEnd(text, at);
      if (expectsName && frame?.names) {
        const raw = text.slice(at + 1, end);
        frame.at = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
        if (frame.names.has(frame.at)) return open.map(({ at: step }) => step);
        frame.names.add(frame.at);
        expectsName = false;
      }
      at = end;
    }
  }
  return undefined;
}

export const hasDuplicateKeys = (text: string): boolean => findDuplicateMember(text) !== undefined;
