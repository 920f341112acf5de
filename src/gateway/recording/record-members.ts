import { anonymousKey, numberColumns, numberIndex, tagSeparator, wordColumns, wordIndex } from '#analytics/batch.ts';
import { otherName } from '#analytics/usage-rows.ts';
import { formatIsoTime } from '#base/clock.ts';
import { closestMatch } from '#base/closest-match.ts';
import { isObject } from '#base/json-tree.ts';
import type { HookRecord } from '../plugins/typescript/contract.ts';
import type { ApiAnalytics } from './api-analytics.ts';

type NumberColumn = keyof typeof numberIndex;
type WordColumn = keyof typeof wordIndex;

const maxTextCharacters = 1024;

/** Columns of one request until its plugin has run; written like a row of a batch. */
export class CapturedRecord {
  readonly api: ApiAnalytics;
  readonly numbers: number[] = numberColumns.map(() => 0);
  readonly words: string[] = wordColumns.map(() => '');
  /** Characters of texts that are bounded by the batch or queue, not one by one. */
  uniqueCharacters: number;

  constructor(api: ApiAnalytics, waitingCharacters: number) {
    this.api = api;
    this.uniqueCharacters = waitingCharacters;
  }

  setNumber(column: NumberColumn, value: number): void {
    this.numbers[numberIndex[column]] = value;
  }

  setWord(column: WordColumn, text: string): void {
    this.words[wordIndex[column]] = text.slice(0, maxTextCharacters);
  }

  setUniqueText(column: WordColumn, text: string): void {
    this.uniqueCharacters += text.length;
    this.words[wordIndex[column]] = text;
  }

  /** Characters of its longest texts. */
  get rawCharacters(): number {
    return this.word('rawRequest').length + this.word('rawResponse').length;
  }

  number(column: NumberColumn): number {
    return this.numbers[numberIndex[column]]!;
  }

  word(column: WordColumn): string {
    return this.words[wordIndex[column]]!;
  }
}

/** Texts that a plugin may change, by their names in the request log. */
const textMembers = {
  method: 'method',
  host: 'host',
  path: 'path',
  raw_path: 'rawPath',
  original_path: 'originalPath',
  user_agent: 'userAgent',
  ip_address: 'address',
  country: 'country',
  api_key: 'keyHash',
  alias: 'alias',
  oauth_id: 'oauthId',
  api_version: 'version',
  upstream_error: 'upstreamError',
  request_id: 'requestId',
  mcp_method: 'mcpMethod',
  mcp_primitive_name: 'mcpPrimitiveName',
  graphql_operation_name: 'graphqlName',
  raw_request: 'rawRequest',
  raw_response: 'rawResponse',
} as const satisfies Partial<Record<keyof HookRecord, WordColumn>>;

type TextMember = keyof typeof textMembers;
const textNames = Object.keys(textMembers) as TextMember[];

/** Texts of the gateway and the definition: they stay where a plugin failed. Every other column may have client text. */
const gatewayColumns: ReadonlySet<WordColumn> = new Set(['version', 'refusal', 'graphqlType', 'mcpPrimitiveType']);
/** RFC 9110 and RFC 5789. Clients can choose any other text as a method. */
const knownMethods: ReadonlySet<string> = new Set('GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT'.split(' '));
/** Base64 of the longest recorded message, twice. */
const maxRawCharacters = 24_576;
const maxTags = 50;
const maxTagCharacters = 200;

/** Record as the plugin gets it. */
export function toHookRecord(record: CapturedRecord): HookRecord {
  const { id, orgId, name, listenPath } = record.api.facts;
  const texts = Object.fromEntries(textNames.map(member => [member, record.word(textMembers[member])]));
  const tags = record.word('tags');
  return {
    ...(texts as Record<TextMember, string>),
    api_key: texts.api_key === anonymousKey ? '' : texts.api_key!,
    response_code: record.number('status'),
    tags: tags === '' ? [] : tags.split(tagSeparator),
    timestamp: formatIsoTime(record.number('atMs')),
    org_id: orgId,
    api_id: id,
    api_name: name,
    listen_path: listenPath,
    refusal: record.word('refusal'),
    request_time: record.number('totalMs'),
    upstream_time: record.number('upstreamMs'),
    content_length: record.number('requestBytes'),
    response_length: record.number('answerBytes'),
  };
}

/** Applies the record that a plugin returned; returns why it cannot be stored, or an empty text. */
export function applyHookRecord(record: CapturedRecord, returned: unknown): string {
  if (!isObject(returned)) return 'the plugin returned no record';
  const fault = findRecordFault(toHookRecord(record), returned);
  if (fault !== '') return fault;
  for (const member of textNames) record.setUniqueText(textMembers[member], returned[member] as string);
  if (returned.api_key === '') record.setWord('keyHash', anonymousKey);
  record.setNumber('status', returned.response_code as number);
  record.setWord('tags', (returned.tags as string[]).join(tagSeparator));
  return '';
}

/** Fails closed: a record whose plugin failed is stored without what the plugin could have removed. */
export function clearRecord(record: CapturedRecord): void {
  const method = record.word('method');
  for (const column of wordColumns) if (!gatewayColumns.has(column)) record.setWord(column, '');
  record.setWord('method', knownMethods.has(method) ? method : otherName);
  record.setWord('keyHash', anonymousKey);
  record.setWord('path', otherName);
}

function findRecordFault(given: HookRecord, returned: Readonly<Record<string, unknown>>): string {
  for (const name of Object.keys(returned)) {
    if (!Object.hasOwn(given, name)) {
      const nearest = closestMatch(name, Object.keys(given));
      return `a record has no member ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    }
    if (name === 'tags' || name === 'response_code' || name in textMembers) continue;
    if (returned[name] !== given[name as keyof HookRecord]) return `${name} of a record cannot be changed`;
  }
  for (const name of textNames) {
    const fault = findTextFault(name, returned[name]);
    if (fault !== '') return fault;
  }
  const { response_code: status, tags } = returned;
  if (!Number.isInteger(status) || (status as number) < 0 || (status as number) > 999)
    return 'response_code must be a whole number up to 999';
  return isTagList(tags) ? '' : `tags must be an array of up to ${maxTags} strings of ${maxTagCharacters} characters`;
}

function findTextFault(name: TextMember, value: unknown): string {
  if (typeof value !== 'string') return `${name} must be a string`;
  const max = name === 'raw_request' || name === 'raw_response' ? maxRawCharacters : maxTextCharacters;
  if (value.length > max) return `${name} is longer than ${max} characters`;
  if (name === 'country' && !/^([A-Z]{2})?$/.test(value)) return 'country must be two capital letters, or empty';
  return value.includes(tagSeparator) ? `${name} must not contain a NUL character` : '';
}

const isTagList = (tags: unknown): tags is string[] =>
  Array.isArray(tags) &&
  tags.length <= maxTags &&
  tags.every(it => typeof it === 'string' && it !== '' && it.length <= maxTagCharacters && !it.includes(tagSeparator));
