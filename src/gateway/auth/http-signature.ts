import type { Exchange } from '../pipeline/exchange.ts';

/** Parameters of a `Signature` header. */
export interface HttpSignature {
  readonly keyId: string;
  /** Lower-case. */
  readonly algorithm: string;
  /** Lower-case, in the order they were signed in. */
  readonly headers: readonly string[];
  /** Base64. */
  readonly signature: string;
}

const scheme = /^Signature\s+/i;
const field = /\s*([A-Za-z]+)\s*=\s*"([^"]*)"\s*(,|$)/y;
const knownFields: ReadonlySet<string> = new Set(['keyid', 'algorithm', 'headers', 'signature']);
/** Bound on the signed headers. */
const maxSignedHeaders = 50;

/** Parses `Signature keyId="…",algorithm="…",headers="…",signature="…"`; undefined where it is malformed. */
export function parseSignatureHeader(text: string): HttpSignature | undefined {
  const begin = scheme.exec(text);
  if (!begin) return undefined;
  const fields = new Map<string, string>();
  let ended = '';
  for (field.lastIndex = begin[0].length; ; ) {
    const match = field.exec(text);
    if (!match) return undefined;
    const [, name = '', value = '', end = ''] = match;
    if (!knownFields.has(name.toLowerCase()) || fields.has(name.toLowerCase())) return undefined;
    fields.set(name.toLowerCase(), value);
    ended = end;
    if (ended === '') break;
  }
  const keyId = fields.get('keyid') ?? '';
  const signature = unescapeBase64(fields.get('signature') ?? '');
  const headers = (fields.get('headers') || 'date').toLowerCase().trim().split(/\s+/);
  if (keyId === '' || signature === undefined || signature === '' || headers.length > maxSignedHeaders)
    return undefined;
  return { keyId, algorithm: (fields.get('algorithm') || 'hmac-sha1').toLowerCase(), headers, signature };
}

/** The base64 may be percent-encoded or plain. */
function unescapeBase64(text: string): string | undefined {
  const plain = text.replaceAll(/%(2b|2f|3d)/gi, (_whole, code: string) => escapes[code.toLowerCase()]!);
  return /^[A-Za-z0-9+/]+={0,2}$/.test(plain) ? plain : undefined;
}
const escapes: Readonly<Record<string, string>> = { '2b': '+', '2f': '/', '3d': '=' };

/** Signing string. The path is as sent, with the listen path and without the query. */
export function buildSigningString(call: Exchange, names: readonly string[]): string {
  return names.map(name => formatLine(call, name)).join('\n');
}

function formatLine(call: Exchange, name: string): string {
  if (name === '(request-target)') return `${name}: ${call.method.toLowerCase()} ${readSentPath(call)}`;
  if (name === 'date' && call.headers.has(auxiliaryDate))
    return `${auxiliaryDate}: ${readHeaderValue(call, auxiliaryDate)}`;
  return `${name}: ${readHeaderValue(call, name)}`;
}

const auxiliaryDate = 'x-aux-date';

const readHeaderValue = (call: Exchange, name: string) =>
  call.headers
    .all(name)
    .map(value => value.trim())
    .join(', ');

const readSentPath = ({ target }: Exchange) => target.replace(/^https?:\/\/[^/?#]*/i, '').split('?', 1)[0] || '/';

/** `X-Aux-Date` replaces `Date`, which browsers cannot set. */
export const readSignatureDate = (call: Exchange): number | undefined =>
  parseHttpDate(call.headers.get(auxiliaryDate) ?? call.headers.get('date') ?? '');

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const datePattern = new RegExp(
  `^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\\d{2}) (${months.join('|')}) (\\d{4}) (\\d{2}):(\\d{2}):(\\d{2}) ` +
    '(?:[A-Z]{3,5}|([+-])(\\d{2})(\\d{2})?)$',
);

/** Milliseconds since the epoch. A named time zone counts as UTC. */
export function parseHttpDate(text: string): number | undefined {
  const match = datePattern.exec(text.trim());
  if (!match) return undefined;
  const [day, year, hour, minute, second] = [1, 3, 4, 5, 6].map(at => Number(match[at])) as [
    number,
    number,
    number,
    number,
    number,
  ];
  if (day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return undefined;
  const offset = match[7] === undefined ? 0 : Number(match[8]) * 60 + Number(match[9] ?? 0);
  const sign = match[7] === '-' ? -1 : 1;
  return Date.UTC(year, months.indexOf(match[2]!), day, hour, minute, second) - sign * offset * 60_000;
}
