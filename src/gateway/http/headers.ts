import { toLowerName } from './header-names.ts';
import type { ParsedFields } from './http1/parsed-fields.ts';

/**
 * Headers as one flat list of names and values, in order and in their original case. Both sides of the gateway use this
 * form, so a request that passes through is not copied into objects.
 */
export class HeaderList {
  /** `[name, value, name, value, …]` */
  readonly flat: string[];
  /** True when a gateway credential is among them. */
  hasGatewayCredentials = false;
  /** Field lines of the HTTP/1.1 head they come from: those that are unchanged are forwarded as they stand there. */
  parsed: ParsedFields | undefined = undefined;

  constructor(flat: string[] = []) {
    this.flat = flat;
  }

  /** First value. `name` is lower-case, here and below. */
  get(name: string): string | undefined {
    const { flat } = this;
    for (let i = 0; i < flat.length; i += 2) if (equalsName(flat[i]!, name)) return flat[i + 1];
    return undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  all(name: string): string[] {
    const values: string[] = [];
    const { flat } = this;
    for (let i = 0; i < flat.length; i += 2) if (equalsName(flat[i]!, name)) values.push(flat[i + 1]!);
    return values;
  }

  /**
   * Replaces all values of the name. Aliases with `_` for `-` go too: some upstreams read both as one name and would
   * see the value of the client beside ours.
   */
  set(name: string, value: string): void {
    const lower = name.toLowerCase();
    this.remove(lower);
    if (lower.includes('-')) this.#removeAliases(lower);
    this.flat.push(name, value);
  }

  #removeAliases(name: string): void {
    const { flat } = this;
    for (let i = flat.length - 2; i >= 0; i -= 2) {
      const alias = flat[i]!;
      if (alias.length === name.length && alias.includes('_') && alias.toLowerCase().replaceAll('_', '-') === name)
        flat.splice(i, 2);
    }
  }

  append(name: string, value: string): void {
    this.flat.push(name, value);
  }

  remove(name: string): boolean {
    const { flat } = this;
    let length = 0;
    for (let i = 0; i < flat.length; i += 2) {
      if (equalsName(flat[i]!, name)) continue;
      flat[length] = flat[i]!;
      flat[length + 1] = flat[i + 1]!;
      length += 2;
    }
    const removed = length < flat.length;
    flat.length = length;
    return removed;
  }

  /** Removes headers by lower-case name, also their aliases with `_` for `-`. */
  removeAll(names: ReadonlySet<string>): void {
    const { flat } = this;
    let length = 0;
    for (let i = 0; i < flat.length; i += 2) {
      const name = toLowerName(flat[i]!);
      if (names.has(name) || (name.includes('_') && names.has(name.replaceAll('_', '-')))) continue;
      flat[length] = flat[i]!;
      flat[length + 1] = flat[i + 1]!;
      length += 2;
    }
    flat.length = length;
  }

  *[Symbol.iterator](): Generator<[name: string, value: string]> {
    const { flat } = this;
    for (let i = 0; i < flat.length; i += 2) yield [flat[i]!, flat[i + 1]!];
  }
}

/** Headers of a received request. Steps change the list, and the parsed lines stay as they are. */
export function fromParsedFields(flat: string[], parsed: ParsedFields | undefined): HeaderList {
  if (parsed === undefined) return new HeaderList(flat);
  const headers = new HeaderList(flat.slice());
  headers.parsed = parsed;
  return headers;
}

/** Case-insensitive comparison; most names have the expected case, or another length. */
const equalsName = (received: string, name: string): boolean =>
  received.length === name.length && (received === name || toLowerName(received) === name);

/** Hop-by-hop headers (RFC 9110, 7.6.1); never forwarded. */
export const hopByHopHeaders: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** Message framing; set by the side that sends the message. */
export const framingHeaders: ReadonlySet<string> = new Set([...hopByHopHeaders, 'content-length', 'expect']);

/** Headers that `Connection` may not remove: upstreams and the gateway rely on them. */
const protectedHeaders =
  /^(?:host|content-|authorization$|cookie$|set-cookie$|cache-control$|vary$|x-real-ip$|forwarded|x-forwarded)/;
const connectionTokens: ReadonlySet<string> = new Set(['keep-alive', 'close', 'upgrade']);

/** Removes the headers that `Connection` names (RFC 9110, 7.6.1). */
export function removeConnectionHeaders(headers: HeaderList, connection: string): void {
  if (connection === 'keep-alive' || connection === 'close') return;
  const text = connection.toLowerCase();
  if (connectionTokens.has(text)) return;
  const names = new Set<string>();
  for (const part of text.split(',')) {
    const name = part.trim();
    if (name !== '' && !connectionTokens.has(name) && !protectedHeaders.test(name)) names.add(name);
  }
  if (names.size > 0) headers.removeAll(names);
}
