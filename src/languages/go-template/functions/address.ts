import { TemplateError } from '../error.ts';

/** Parts of a URL as written (RFC 3986): no port, case or dot segment is normalised. */
export interface AddressParts {
  readonly scheme: string;
  readonly host: string;
  readonly hostname: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
  readonly userinfo: string;
  readonly opaque: string;
}

const createAddressError = (why: string) => new TemplateError(`it is not an address: ${why}`);

/** Percent-decoding; malformed sequences are errors. */
function resolveEscapes(text: string): string {
  if (!text.includes('%')) return text;
  if (/%(?![\da-fA-F]{2})/.test(text)) throw createAddressError('invalid URL escape');
  return text.replaceAll(/(?:%[\da-fA-F]{2})+/g, it => Buffer.from(it.replaceAll('%', ''), 'hex').toString());
}

function splitAt(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

export function parseAddress(written: string): AddressParts {
  if (/(?![\u0080-\u009f])\p{Cc}/u.test(written)) throw createAddressError('invalid control character');
  const [address, fragment] = splitAt(written, '#');
  if (address.startsWith(':')) throw createAddressError('missing scheme');
  const [, scheme = '', behind] = /^([A-Za-z][A-Za-z\d+.-]*):([\s\S]*)$/.exec(address) ?? [undefined, '', address];
  const [rest, query] = splitAt(behind!, '?');
  const parts = { scheme: scheme.toLowerCase(), query, fragment: resolveEscapes(fragment) };
  const none = { host: '', hostname: '', path: '', userinfo: '', opaque: '' };
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...none, ...parts, opaque: rest };
    if (/^[^/]*:/.test(rest)) throw createAddressError('first path segment cannot contain a colon');
  }
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'));
  if (!hasAuthority) return { ...none, ...parts, path: resolveEscapes(rest) };
  const slash = rest.indexOf('/', 2);
  const authority = rest.slice(2, slash < 0 ? undefined : slash);
  const path = slash < 0 ? '' : resolveEscapes(rest.slice(slash));
  return { ...none, ...parts, path, ...parseAuthority(authority) };
}

function parseAuthority(authority: string): Pick<AddressParts, 'host' | 'hostname' | 'userinfo'> {
  const at = authority.lastIndexOf('@');
  const userinfo = authority.slice(0, Math.max(0, at));
  if (!/^[\w\-.~!$&'()*+,;=:%@]*$/.test(userinfo)) throw createAddressError('invalid userinfo');
  resolveEscapes(userinfo);
  const host = authority.slice(at + 1);
  if (/[\0-\x7f]/.test(host.replaceAll(/[\w\-.~!$&'()*+,;=:[\]<>"]/g, '')))
    throw createAddressError('invalid character in host name');
  const [, hostname, port] = /^(\[[^\]]*\]|[^:]*)(:[\s\S]*)?$/.exec(host) ?? [];
  if (hostname === undefined || !/^:?\d*$/.test(port ?? '')) throw createAddressError('invalid port');
  return { host, hostname: hostname.replace(/^\[|\]$/g, ''), userinfo };
}

const percent = (it: string) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`;
const escapePath = (path: string) => encodeURI(path.toWellFormed()).replaceAll(/[!'()*?#]/g, percent);
const escapeFragment = (fragment: string) => encodeURI(fragment.toWellFormed()).replaceAll(/['#]/g, percent);

export function joinAddress(part: (name: keyof AddressParts) => string): string {
  const [scheme, host, path, query, fragment] = (['scheme', 'host', 'path', 'query', 'fragment'] as const).map(part);
  const [userinfo, opaque] = [part('userinfo'), part('opaque')];
  const lead = (mark: string, value: string) => (value === '' ? '' : mark + value);
  const start = scheme === '' ? '' : `${scheme}:`;
  const end = lead('?', query!) + lead('#', escapeFragment(fragment!));
  if (opaque !== '') return start + opaque + end;
  const hasAuthority = host !== '' || userinfo !== '' || (scheme !== '' && path !== '');
  const authority = hasAuthority ? `//${userinfo === '' ? '' : `${userinfo}@`}${host}` : '';
  const escaped = escapePath(path!);
  const slash = escaped !== '' && !escaped.startsWith('/') && host !== '' ? '/' : '';
  // A colon in the first segment would end a scheme.
  const dot = start + authority + slash === '' && /^[^/]*:/.test(escaped) ? './' : '';
  return start + authority + slash + dot + escaped + end;
}
