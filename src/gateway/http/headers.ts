/**
 * Headers as they travel: one flat list of names and values, in order, in the case they came in. Both sides of the
 * gateway speak this form, so nothing is copied into objects for a call that only passes through.
 */
export class HeaderList {
  /** `[name, value, name, value, …]` */
  readonly flat: string[];
  /** A credential of the installation is among them. */
  hasGatewayCredentials = false;

  constructor(flat: string[] = []) {
    this.flat = flat;
  }

  /** The first value. `name` is lower-case, here and below. */
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
   * Replaces every value of the name by one. A spelling with `_` for `-` goes too: some readers take them for the same, and
   * would find the caller's word beside ours.
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
      const given = flat[i]!;
      if (given.length === name.length && given.includes('_') && given.toLowerCase().replaceAll('_', '-') === name)
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

  /** Removes every header whose name is among these, which are lower-case, in spellings with `_` for `-` too. */
  removeAll(names: ReadonlySet<string>): void {
    const { flat } = this;
    let length = 0;
    for (let i = 0; i < flat.length; i += 2) {
      const name = flat[i]!.toLowerCase();
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

/** Names are compared without case; most arrive in the case they are asked for, or have another length. */
const equalsName = (given: string, name: string): boolean =>
  given.length === name.length && (given === name || given.toLowerCase() === name);

/** Headers that speak of one connection. They are never passed on. */
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

/** They say where a message ends, or speak of one connection. Only whoever sends the message knows. */
export const framingHeaders: ReadonlySet<string> = new Set([...hopByHopHeaders, 'content-length', 'expect']);

/** What nobody takes away by naming it in `Connection`: headers others rely on. */
const protectedHeaders =
  /^(?:host|content-|authorization$|cookie$|set-cookie$|cache-control$|vary$|x-real-ip$|forwarded|x-forwarded)/;
const connectionTokens: ReadonlySet<string> = new Set(['keep-alive', 'close', 'upgrade']);

/** Drops what the value of a `Connection` header names: it speaks of that connection, and ends with it. */
export function removeConnectionHeaders(headers: HeaderList, connection: string): void {
  const text = connection.toLowerCase();
  if (connectionTokens.has(text)) return;
  for (const part of text.split(',')) {
    const name = part.trim();
    if (name !== '' && !connectionTokens.has(name) && !protectedHeaders.test(name)) headers.remove(name);
  }
}
