import type { JsonDiff } from '#base/json-diff.ts';
import { unescapePointerToken } from '#base/json-pointer.ts';
import { isObject } from '#base/json-tree.ts';

/** Phrases of one summary; a last one counts the others. */
export const maxSummaryPhrases = 5;
const maxPhraseCharacters = 160;
/** Longer values are not shown. */
const maxValueCharacters = 40;

/** Names of members that differ from their words. */
const memberWords: Readonly<Record<string, string>> = {
  quota_max: 'quota',
  quota_renewal_rate: 'quota period in seconds',
  target_url: 'upstream URL',
  listenPath: 'listen path',
  use_keyless: 'access without a key',
};
const httpMethods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);
/** Containers of a definition that say nothing about a change. */
const containers = /^\/(api_definition|oas\/x-gw-api-gateway|x-gw-api-gateway|oas)(?=\/)/;

/** Values on both sides of a change, as the caller may see them; undefined where absent. */
interface Change {
  readonly tokens: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

/** Documents on both sides, for members next to a changed one. */
interface Documents {
  readonly before: unknown;
  readonly after: unknown;
}

/** Summary of differences in words: `rate limit 100 → 50 a minute`, `endpoint GET /x added`. */
export function summarizeChanges({ changes, isTruncated }: JsonDiff, documents: Documents): string[] {
  const phrases = new Set<string>();
  let described = 0;
  for (const { path, before, after } of changes) {
    const found = describeChange(toChange(path, before, after), path, documents).map(shorten);
    const fresh = found.filter(phrase => !phrases.has(phrase));
    for (const phrase of fresh.slice(0, maxSummaryPhrases - phrases.size)) phrases.add(phrase);
    if (!fresh.every(phrase => phrases.has(phrase))) break;
    described++;
  }
  const left = changes.length - described;
  return [...phrases, ...(left > 0 ? [`${isTruncated ? 'more than ' : ''}${left} more`] : [])];
}

const toChange = (path: string, before: unknown, after: unknown): Change => ({
  tokens: path.replace(containers, '').split('/').slice(1).map(unescapePointerToken),
  before: before ?? undefined,
  after: after ?? undefined,
});

const shorten = (phrase: string) =>
  phrase.length <= maxPhraseCharacters
    ? phrase
    : `${phrase
        .slice(0, maxPhraseCharacters - 1)
        .toWellFormed()
        .trimEnd()}…`;

function describeChange(change: Change, path: string, documents: Documents): string[] {
  const [first, second, ...rest] = change.tokens;
  if (first === 'paths' && second?.startsWith('/')) return describeEndpoint(change, second, rest);
  const last = change.tokens.at(-1);
  if (last === 'rate' || last === 'per') {
    const rate = describeRate(path, documents);
    if (rate) return [rate];
  }
  return [describeMember(change)];
}

function describeEndpoint(change: Change, path: string, [method = '', ...rest]: readonly string[]): string[] {
  const toName = (it: string) => `${it.toUpperCase()} ${path}`;
  if (httpMethods.has(method) && rest.length > 0)
    return [`${toName(method)}: ${describeMember({ ...change, tokens: rest })}`];
  const verb = toVerb(change);
  if (httpMethods.has(method)) return [`endpoint ${toName(method)} ${verb}`];
  const value = change.after ?? change.before;
  const methods = method === '' && isObject(value) ? Object.keys(value).filter(it => httpMethods.has(it)) : [];
  return methods.length > 0 ? methods.map(it => `endpoint ${toName(it)} ${verb}`) : [`path ${path} ${verb}`];
}

const toVerb = ({ before, after }: Change) =>
  before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';

interface RateLimit {
  readonly rate: number;
  readonly per: number;
}

/** A rate limit is two members, `rate` and `per`: one phrase for both. */
function describeRate(path: string, { before, after }: Documents): string | undefined {
  const parent = path.split('/').slice(1, -1).map(unescapePointerToken);
  const [old, next] = [before, after].map(document => readLimit(document, parent));
  if (!next) return undefined;
  if (!old) return `rate limit set to ${toLimit(next)}`;
  if (old.rate < 0 && next.rate < 0) return undefined;
  const shownOld = next.rate >= 0 && old.rate >= 0 && old.per === next.per ? String(old.rate) : toLimit(old);
  return `rate limit ${shownOld} → ${toLimit(next)}`;
}

/** Shown where a limit is switched off by a negative value. */
const unlimited = 'unlimited';
const toLimit = ({ rate, per }: RateLimit) => (rate < 0 ? unlimited : `${rate} ${toPeriod(per)}`);

function readLimit(document: unknown, path: readonly string[]): RateLimit | undefined {
  let value = document;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  if (!isObject(value) || typeof value.rate !== 'number' || typeof value.per !== 'number') return undefined;
  return { rate: value.rate, per: value.per };
}

const periods = new Map([
  [1, 'a second'],
  [60, 'a minute'],
  [3600, 'an hour'],
  [86_400, 'a day'],
]);
const toPeriod = (seconds: number) => periods.get(seconds) ?? `per ${seconds} s`;

/** The last two names of a path; an index names an item of the list before it. */
function describeMember(change: Change): string {
  const { tokens, before, after } = change;
  const isItem = /^\d+$/.test(tokens.at(-1) ?? '');
  const label = tokens
    .filter(token => !/^\d+$/.test(token))
    .slice(-2)
    .map(toWords)
    .join(': ');
  const [old, next] = [before, after].map(value => toShown(value, tokens.at(-1)));
  if (typeof after === 'boolean' && typeof before !== 'string') return `${label} ${after ? 'on' : 'off'}`;
  if (old !== undefined && next !== undefined && old !== next) return `${label} ${old} → ${next}`;
  const shown = before === undefined ? next : after === undefined ? old : undefined;
  if (shown === undefined) return `${label}${isItem ? ': item' : ''} ${toVerb(change)}`;
  return before === undefined && !isItem
    ? `${label} set to ${shown}`
    : `${label}${isItem ? ':' : ''} ${shown} ${toVerb(change)}`;
}

/** `quotaMax` and `quota_max` as `quota max`. */
const toWords = (name: string) =>
  Object.hasOwn(memberWords, name)
    ? memberWords[name]!
    : name
        .replaceAll(/([a-z])([A-Z])/g, (_whole, a: string, b: string) => `${a} ${b.toLowerCase()}`)
        .replaceAll('_', ' ');

/** Members of which a negative value is no limit. */
const limitMembers: readonly (string | undefined)[] = ['rate', 'quota_max'];

function toShown(value: unknown, name: string | undefined): string | undefined {
  if (typeof value === 'number' && value < 0 && limitMembers.includes(name)) return unlimited;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value.length > maxValueCharacters) return undefined;
  return JSON.stringify(value);
}
