import { Lru } from '#base/lru.ts';

/** Clients choose header names, most of them the same ones: a bounded cache. */
const maxCachedNames = 1000;
const cache = new Lru<string, HeaderNames>(maxCachedNames);

export interface HeaderNames {
  /** `User-Agent`. */
  readonly canonical: string;
  /** The context variable: `headers_User_Agent`. */
  readonly variable: string;
}

export function toHeaderNames(name: string): HeaderNames {
  const cached = cache.get(name);
  if (cached !== undefined) return cached;
  const canonical = name.toLowerCase().replaceAll(/(?:^|-)[a-z]/g, letter => letter.toUpperCase());
  const names = { canonical, variable: `headers_${canonical.replaceAll('-', '_')}` };
  cache.set(name, names);
  return names;
}

const strict = new TextDecoder('utf-8', { fatal: true });
const ascii = /^[ -~]*$/;

/** Decodes a header value, one byte per character, as UTF-8. */
export function decodeHeaderText(value: string): string {
  if (ascii.test(value)) return value;
  try {
    return strict.decode(Buffer.from(value, 'latin1'));
  } catch {
    // Not UTF-8: Latin-1.
    return value;
  }
}
