import { domainToASCII } from 'node:url';
import { BoundedMap } from './bounded-map.ts';
import { toLatin1 } from './http-syntax.ts';
import { percentDecodeLoosely } from './percent-decode.ts';

/** Redaction of secrets in log lines, error messages and traces, in every encoding they may take. */
export interface Redactor {
  add(secret: string): void;
  redact(text: string): string;
}

export const redactedText = '********';

/** Shorter secrets would match too much other text. */
const minSecretCharacters = 4;
/** The oldest are dropped first; an installation has far fewer. */
const defaultMaxSecrets = 10_000;

export function createRedactor({ maxSecrets = defaultMaxSecrets }: { maxSecrets?: number } = {}): Redactor {
  const secrets = new BoundedMap<string, string>(maxSecrets);
  let pattern: RegExp | undefined;

  function compile(): RegExp {
    const spellings = [...new Set([...secrets.values()].flatMap(listSpellings))].sort((a, b) => b.length - a.length);
    return new RegExp(spellings.map(escapeRegex).join('|'), 'gi');
  }

  return {
    add(secret) {
      if (secret.length < minSecretCharacters || secrets.get(secret) !== undefined) return;
      secrets.set(secret, secret);
      pattern = undefined;
    },
    redact(text) {
      if (secrets.size === 0) return text;
      pattern ??= compile();
      return text.replaceAll(pattern, redactedText);
    },
  };
}

const escapeRegex = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/**
 * The secret itself, its URL, JSON and header encodings, and the parts of a URL that system errors name on their own.
 */
function listSpellings(secret: string): string[] {
  const wellFormed = secret.toWellFormed();
  const parts = [
    secret,
    encodeURIComponent(wellFormed),
    encodeURI(wellFormed),
    JSON.stringify(secret).slice(1, -1),
    toLatin1(secret),
    domainToASCII(secret),
    ...listAddressParts(secret),
  ];
  return parts.filter(it => it.length >= minSecretCharacters);
}

function listAddressParts(secret: string): string[] {
  const url = secret.includes('://') ? URL.parse(secret) : null;
  if (!url) return [];
  const { href, origin, host, hostname, username, password, pathname, search } = url;
  const decoded = [username, password, pathname].map(percentDecodeLoosely);
  // `new URL` adds the trailing slash; the form without it is listed too.
  return [href, href.replace(/\/$/, ''), origin === 'null' ? '' : origin, host, hostname, username, password].concat(
    [pathname, search, ...decoded].filter(it => it !== '/'),
  );
}
