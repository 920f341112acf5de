/**
 * Interned header names. Hashing and comparing a string that was just cut from a message costs more than all else that
 * the gateway does with most headers. Names in their usual spellings are therefore one string object each: V8 has hashed
 * it once, and compares it by its address.
 */
const usualNames: readonly string[] = [
  ...[
    'Accept',
    'Accept-Charset',
    'Accept-Encoding',
    'Accept-Language',
    'Accept-Patch',
    'Accept-Ranges',
    'Age',
    'Allow',
  ],
  ...['Access-Control-Allow-Credentials', 'Access-Control-Allow-Headers', 'Access-Control-Allow-Methods', 'Alt-Svc'],
  ...['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers', 'Access-Control-Max-Age', 'Authorization'],
  ...['Access-Control-Request-Headers', 'Access-Control-Request-Method', 'Baggage', 'Cache-Control', 'Connection'],
  ...['Content-Disposition', 'Content-Encoding', 'Content-Language', 'Content-Length', 'Content-Location'],
  ...[
    'Content-MD5',
    'Content-Range',
    'Content-Security-Policy',
    'Content-Type',
    'Cookie',
    'Cross-Origin-Opener-Policy',
  ],
  ...['Cross-Origin-Resource-Policy', 'Date', 'DNT', 'ETag', 'Expect', 'Expires', 'Forwarded', 'From', 'Host'],
  ...['Idempotency-Key', 'If-Match', 'If-Modified-Since', 'If-None-Match', 'If-Range', 'If-Unmodified-Since'],
  ...['Keep-Alive', 'Last-Modified', 'Link', 'Location', 'Max-Forwards', 'Origin', 'Permissions-Policy', 'Pragma'],
  ...['Prefer', 'Priority', 'Proxy-Authenticate', 'Proxy-Authorization', 'Proxy-Connection', 'Range', 'Referer'],
  ...['Referrer-Policy', 'Retry-After', 'Sec-CH-UA', 'Sec-CH-UA-Mobile', 'Sec-CH-UA-Platform', 'Sec-Fetch-Dest'],
  ...['Sec-Fetch-Mode', 'Sec-Fetch-Site', 'Sec-Fetch-User', 'Sec-GPC', 'Sec-WebSocket-Accept', 'Sec-WebSocket-Key'],
  ...['Sec-WebSocket-Extensions', 'Sec-WebSocket-Protocol', 'Sec-WebSocket-Version', 'Server', 'Server-Timing'],
  ...['Set-Cookie', 'SOAPAction', 'Strict-Transport-Security', 'TE', 'Timing-Allow-Origin', 'Traceparent'],
  ...['Tracestate', 'Trailer', 'Transfer-Encoding', 'Upgrade', 'Upgrade-Insecure-Requests', 'User-Agent', 'Vary'],
  ...['Via', 'Warning', 'WWW-Authenticate', 'X-Api-Key', 'X-B3-Sampled', 'X-B3-SpanId', 'X-B3-TraceId', 'X-Cache'],
  ...['X-Content-Type-Options', 'X-Correlation-ID', 'X-DNS-Prefetch-Control', 'X-Forwarded-For', 'X-Forwarded-Host'],
  ...['X-Forwarded-Port', 'X-Forwarded-Proto', 'X-Frame-Options', 'X-Powered-By', 'X-RateLimit-Limit'],
  ...['X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Real-IP', 'X-Request-ID', 'X-Requested-With'],
  ...['X-Response-Time', 'X-Runtime', 'X-XSS-Protection'],
];

interface UsualName {
  readonly name: string;
  readonly codes: Uint8Array;
}

/** A name as written, in lower case, and with a capital after each hyphen. */
const toSpellings = (name: string): string[] => [
  name,
  name.toLowerCase(),
  name.toLowerCase().replaceAll(/\b[a-z]/g, letter => letter.toUpperCase()),
];

/** Property keys are interned strings. */
const intern = (text: string): string => Object.keys({ [text]: true })[0]!;

const slotCount = 2048;
const slots = Array.from<unknown, UsualName | undefined>({ length: slotCount }, () => undefined);
const lowerNames = new Map<string, string>();

for (const spelling of new Set(usualNames.flatMap(toSpellings))) {
  const name = intern(spelling);
  const codes = Uint8Array.from(Buffer.from(name, 'latin1'));
  let slot = codes.reduce(hashNameByte, 0) & (slotCount - 1);
  while (slots[slot] !== undefined) slot = (slot + 1) & (slotCount - 1);
  slots[slot] = { name, codes };
  lowerNames.set(name, intern(name.toLowerCase()));
}

/** Hash of a name, byte by byte from 0. */
export function hashNameByte(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0;
}

/** The interned name of these bytes, whose hash is `hash`; undefined for an unusual one. */
export function findUsualName(bytes: Uint8Array, start: number, end: number, hash: number): string | undefined {
  for (let slot = hash & (slotCount - 1); ; slot = (slot + 1) & (slotCount - 1)) {
    const entry = slots[slot];
    if (entry === undefined) return undefined;
    if (equalsBytes(entry.codes, bytes, start, end)) return entry.name;
  }
}

function equalsBytes(codes: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  const { length } = codes;
  if (length !== end - start) return false;
  for (let i = 0; i < length; i++) if (codes[i] !== bytes[start + i]) return false;
  return true;
}

/** `toLowerCase` of a header name, without a new string for a usual one. */
export const toLowerName = (name: string): string => lowerNames.get(name) ?? name.toLowerCase();
