import { formatHttpDate } from '#base/clock.ts';
import { HeaderList } from '../http/headers.ts';
import type { CacheEntry } from './cache-entry.ts';
import { parseResponseDirectives } from './http-directives.ts';
import { computeFreshness, hasValidator, type UpstreamTimes } from './http-freshness.ts';
import { listExcludedFields, toStoredTimes } from './http-storage.ts';
import { stripWeakPrefix } from './stored-response.ts';

const conditionHeaders: ReadonlySet<string> = new Set(['if-none-match', 'if-modified-since']);

/** Makes a request conditional on the validators of a stored response (RFC 9111, section 4.3.1), in place of its own. */
export function setConditions(headers: HeaderList, { headers: storedFields }: CacheEntry): boolean {
  const stored = new HeaderList(storedFields as string[]);
  if (!hasValidator(stored)) return false;
  headers.removeAll(conditionHeaders);
  const etag = stored.get('etag');
  const changed = stored.get('last-modified');
  if (etag !== undefined) headers.append('If-None-Match', etag);
  if (changed !== undefined) headers.append('If-Modified-Since', changed);
  return true;
}

const isStrong = (etag: string): boolean => !etag.startsWith('W/');

/** True where a 304 response is about the stored response (RFC 9111, section 4.3.4). */
export function isAboutStored({ headers: storedFields }: CacheEntry, received: HeaderList): boolean {
  const stored = new HeaderList(storedFields as string[]);
  const etag = received.get('etag')?.trim();
  const storedEtag = stored.get('etag')?.trim();
  if (etag !== undefined)
    return isStrong(etag) && storedEtag !== undefined && isStrong(storedEtag)
      ? etag === storedEtag
      : storedEtag !== undefined && stripWeakPrefix(etag) === stripWeakPrefix(storedEtag);
  const changed = received.get('last-modified');
  return changed === undefined || storedEtag !== undefined || changed === stored.get('last-modified');
}

/** Fields that a 304 or HEAD response does not update (RFC 9111, section 3.2): they describe the stored body. */
const fixedFields: ReadonlySet<string> = new Set([
  ...['content-length', 'content-encoding', 'content-type', 'content-range', 'transfer-encoding', 'connection'],
  ...['age', 'cache-status', 'set-cookie', 'set-cookie2', 'x-gw-cached-response'],
]);

/** The stored response with the fields of a response that validated it; undefined where it is no longer reusable. */
export function freshenEntry(
  entry: CacheEntry,
  received: HeaderList,
  times: UpstreamTimes,
  defaultLifetimeMs: number,
): CacheEntry | undefined {
  const updated = new Set<string>();
  for (const [name] of received) if (!fixedFields.has(name.toLowerCase())) updated.add(name.toLowerCase());
  const headers: string[] = [];
  for (let at = 0; at < entry.headers.length; at += 2)
    if (!updated.has(entry.headers[at]!.toLowerCase())) headers.push(entry.headers[at]!, entry.headers[at + 1]!);
  for (const [name, value] of received) if (updated.has(name.toLowerCase())) headers.push(name, value);
  const merged = new HeaderList(headers);
  if (!updated.has('date')) merged.set('Date', formatHttpDate(times.receivedAtMs));
  // The age of the response that validated it, not of the stored one.
  const dated = new HeaderList([...headers, ...received.all('age').flatMap(age => ['Age', age])]);
  const freshness = computeFreshness(entry.status, dated, times, defaultLifetimeMs);
  if (!freshness) return undefined;
  for (const name of listExcludedFields(parseResponseDirectives(merged).directives)) merged.remove(name);
  return { ...entry, headers: merged.flat, ...toStoredTimes(freshness, hasValidator(merged), times.receivedAtMs) };
}

/** Compares a HEAD response: what it implies for the stored GET response (RFC 9111, section 4.3.5). */
export function compareHead(
  { headers: storedFields, status }: CacheEntry,
  received: HeaderList,
  receivedStatus: number,
) {
  const stored = new HeaderList(storedFields as string[]);
  let isValidated = false;
  for (const name of ['etag', 'last-modified', 'content-length']) {
    const value = received.get(name)?.trim();
    if (value === undefined) continue;
    if (value !== stored.get(name)?.trim()) return 'changed';
    isValidated ||= name !== 'content-length';
  }
  return isValidated && receivedStatus === status ? 'same' : 'unknown';
}
