import { Lru } from '#base/lru.ts';

/** Callers choose names: most of them choose the same ones. */
const maxCachedNames = 1000;
const cache = new Lru<string, HeaderNames>(maxCachedNames);

export interface HeaderNames {
  /** The way most people write it: `User-Agent`. */
  readonly canonical: string;
  /** Among the facts about a call: `headers_User_Agent`. */
  readonly variable: string;
}

export function toHeaderNames(name: string): HeaderNames {
  const found = cache.get(name);
  if (found !== undefined) return found;
  const canonical = name.toLowerCase().replaceAll(/(?:^|-)[a-z]/g, letter => letter.toUpperCase());
  const made = { canonical, variable: `headers_${canonical.replaceAll('-', '_')}` };
  cache.set(name, made);
  return made;
}

const strict = new TextDecoder('utf-8', { fatal: true });
const ascii = /^[ -~]*$/;

/** Headers travel as bytes, one to a character. This is the text they stand for. */
export function decodeHeaderText(value: string): string {
  if (ascii.test(value)) return value;
  try {
    return strict.decode(Buffer.from(value, 'latin1'));
  } catch {
    // Not UTF-8, then: each byte is a character of its own.
    return value;
  }
}
