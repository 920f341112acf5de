/**
 * Headers as they travel: one flat list of names and values, in order, in the case they came in. Both sides of the
 * gateway speak this form, so nothing is copied into objects for a call that only passes through.
 */
export class HeaderList {
  /** `[name, value, name, value, …]` */
  readonly flat: string[];

  constructor(flat: string[] = []) {
    this.flat = flat;
  }

  /** The first value. `name` is lower-case, here and below. */
  get(name: string): string | undefined {
    const { flat } = this;
    for (let at = 0; at < flat.length; at += 2) if (isNamed(flat[at]!, name)) return flat[at + 1];
    return undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  all(name: string): string[] {
    const values: string[] = [];
    const { flat } = this;
    for (let at = 0; at < flat.length; at += 2) if (isNamed(flat[at]!, name)) values.push(flat[at + 1]!);
    return values;
  }

  /** Replaces every value of the name by one. */
  set(name: string, value: string): void {
    this.remove(name.toLowerCase());
    this.flat.push(name, value);
  }

  append(name: string, value: string): void {
    this.flat.push(name, value);
  }

  remove(name: string): boolean {
    const { flat } = this;
    let kept = 0;
    for (let at = 0; at < flat.length; at += 2) {
      if (isNamed(flat[at]!, name)) continue;
      flat[kept] = flat[at]!;
      flat[kept + 1] = flat[at + 1]!;
      kept += 2;
    }
    const removed = kept < flat.length;
    flat.length = kept;
    return removed;
  }

  *[Symbol.iterator](): Generator<[name: string, value: string]> {
    const { flat } = this;
    for (let at = 0; at < flat.length; at += 2) yield [flat[at]!, flat[at + 1]!];
  }
}

/** Names are compared without case; most arrive in the case they are asked for, or have another length. */
const isNamed = (given: string, name: string): boolean =>
  given.length === name.length && (given === name || given.toLowerCase() === name);

/** Headers that speak of one connection. They are never passed on. */
export const hopByHop: ReadonlySet<string> = new Set([
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

/** What a client may not have removed or kept by naming it in `Connection`: headers others rely on. */
const protectedNames = /^(host|content-length|content-type|authorization|cookie|x-forwarded-|x-real-ip|forwarded)/;

/** The names in `Connection`, lower-case, that may be dropped with it. */
export function connectionNames(headers: HeaderList): ReadonlySet<string> | undefined {
  const value = headers.get('connection');
  if (value === undefined || !value.includes(',')) {
    const only = value?.trim().toLowerCase();
    return only && !hopByHop.has(only) && only !== 'close' && !protectedNames.test(only) ? new Set([only]) : undefined;
  }
  const names = headers
    .all('connection')
    .flatMap(text => text.toLowerCase().split(','))
    .map(name => name.trim());
  return new Set(names.filter(name => name && !protectedNames.test(name)));
}
