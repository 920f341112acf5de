import { Lru } from '#base/lru.ts';

/** Callers choose names: most of them choose the same ones. */
const namesKept = 1000;
const known = new Lru<string, string>(namesKept);

/** The way most people write it, and variables name it: `user-agent` is `User-Agent`. */
export function canonicalName(name: string): string {
  const found = known.get(name);
  if (found !== undefined) return found;
  const made = name.toLowerCase().replaceAll(/(?:^|-)[a-z]/g, letter => letter.toUpperCase());
  known.set(name, made);
  return made;
}

const strict = new TextDecoder('utf-8', { fatal: true });
const ascii = /^[ -~]*$/;

/** Headers travel as bytes, one to a character. This is the text they stand for. */
export function headerText(value: string): string {
  if (ascii.test(value)) return value;
  try {
    return strict.decode(Buffer.from(value, 'latin1'));
  } catch {
    // Not UTF-8, then: each byte is a character of its own.
    return value;
  }
}
