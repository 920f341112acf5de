import { type Converted, createWarnings, type Warnings } from './converted.ts';
import { createTextProblem } from './problems.ts';
import { toRecordedDocument } from './recorded-document.ts';
import {
  createRequestsProblem,
  maxRecordedRequests,
  type NameValue,
  type RecordedBody,
  type RecordedRequest,
  splitUrl,
} from './recorded-request.ts';
import { splitShellCommands } from './shell-words.ts';

/** Options of curl with a value, by their effect here; all others have none. */
const valueOptions: Readonly<Record<string, (command: CurlCommand, value: string, warnings: Warnings) => void>> = {
  request: (command, value) => {
    command.method = value.toUpperCase();
  },
  url: (command, value) => void command.urls.push(value),
  header: (command, value) => addHeader(command, value),
  data: addData,
  'data-ascii': addData,
  'data-binary': addData,
  'data-raw': (command, value) => void command.data.push(value),
  'data-urlencode': (command, value, warnings) => addEncodedData(command, value, warnings),
  json: (command, value, warnings) => {
    addData(command, value, warnings);
    command.mediaType ??= 'application/json';
  },
  form: (command, value) => addField(command, value),
  'form-string': (command, value) => addField(command, value),
  user: command => void command.headers.push({ name: 'Authorization', value: 'Basic' }),
  'oauth2-bearer': command => void command.headers.push({ name: 'Authorization', value: 'Bearer' }),
  'upload-file': (command, _value, warnings) => {
    command.method ??= 'PUT';
    warnings.add('the content of uploaded files is not read');
  },
  ...Object.fromEntries(
    ['cert', 'key', 'cacert', 'capath', 'resolve', 'connect-to', 'proxy', 'unix-socket', 'aws-sigv4'].map(name => [
      name,
      (_command: CurlCommand, _value: string, warnings: Warnings) =>
        warnings.add(`--${name} is not converted: configure it in the API`),
    ]),
  ),
  ...Object.fromEntries(
    (
      'user-agent cookie cookie-jar referer output max-time connect-timeout retry retry-delay retry-max-time limit-rate ' +
      'range write-out config continue-at max-redirs interface dns-servers ciphers tls-max trace trace-ascii ' +
      'stderr keepalive-time max-filesize speed-limit speed-time local-port noproxy proxy-user expect100-timeout'
    )
      .split(' ')
      .map(name => [name, () => undefined]),
  ),
};

const flagEffects: Readonly<Record<string, (command: CurlCommand, warnings: Warnings) => void>> = {
  get: command => {
    command.isQuery = true;
  },
  head: command => {
    command.method = 'HEAD';
  },
  insecure: (_command, warnings) => warnings.add('--insecure is not converted: certificates of upstreams are verified'),
  digest: (_command, warnings) => warnings.add('--digest is not converted'),
  ntlm: (_command, warnings) => warnings.add('--ntlm is not converted'),
};

const shortNames: Readonly<Record<string, string>> = {
  X: 'request',
  H: 'header',
  d: 'data',
  F: 'form',
  u: 'user',
  A: 'user-agent',
  b: 'cookie',
  c: 'cookie-jar',
  e: 'referer',
  o: 'output',
  m: 'max-time',
  T: 'upload-file',
  x: 'proxy',
  U: 'proxy-user',
  E: 'cert',
  w: 'write-out',
  r: 'range',
  C: 'continue-at',
  K: 'config',
  G: 'get',
  I: 'head',
  k: 'insecure',
};

interface CurlCommand {
  readonly urls: string[];
  readonly headers: NameValue[];
  readonly data: string[];
  readonly fields: { name: string; value: string | undefined }[];
  method: string | undefined;
  mediaType: string | undefined;
  isQuery: boolean;
}

function addHeader(command: CurlCommand, value: string): void {
  const colon = value.indexOf(':');
  if (colon > 0) command.headers.push({ name: value.slice(0, colon).trim(), value: value.slice(colon + 1).trim() });
}

function addData(command: CurlCommand, value: string, warnings: Warnings): void {
  if (value.startsWith('@')) warnings.add('the content of files (-d @file) is not read');
  command.data.push(value.startsWith('@') ? '' : value);
}

/** `content`, `=content`, `name=content`, `@file` or `name@file`. */
function addEncodedData(command: CurlCommand, value: string, warnings: Warnings): void {
  const separator = value.search(/[=@]/);
  if (separator >= 0 && value[separator] === '@') {
    warnings.add('the content of files (--data-urlencode name@file) is not read');
    command.data.push(`${encodeURIComponent(value.slice(0, separator))}=`);
  } else if (separator > 0)
    command.data.push(`${value.slice(0, separator)}=${encodeURIComponent(value.slice(separator + 1))}`);
  else command.data.push(encodeURIComponent(value.slice(separator + 1)));
}

function addField(command: CurlCommand, value: string): void {
  const equals = value.indexOf('=');
  if (equals < 0) return;
  const text = value.slice(equals + 1);
  command.fields.push({ name: value.slice(0, equals), value: /^[@<]/.test(text) ? undefined : text });
}

/** Converts curl commands, such as those that browsers copy. */
export function convertCurl(text: string): Converted {
  const warnings = createWarnings();
  const commands = splitShellCommands(text)
    .map(words => (/^[$>%]$/.test(words[0] ?? '') ? words.slice(1) : words))
    .filter(([name = '']) => /(^|[/\\])curl(\.exe)?$/.test(name));
  if (commands.length === 0) throw createTextProblem('it has no curl command');
  const requests: RecordedRequest[] = [];
  const copies = createCopyBudget();
  for (const [, ...words] of commands) addRequests(requests, parseCurl(words, warnings), copies);
  if (requests.length === 0) throw createTextProblem('no curl command has a URL of HTTP');
  return toRecordedDocument(requests, { title: toTitle(requests), warnings });
}

const toTitle = ([first]: readonly RecordedRequest[]) => (first?.origin ? new URL(first.origin).hostname : 'API');

function parseCurl(words: readonly string[], warnings: Warnings): CurlCommand {
  const command: CurlCommand = {
    urls: [],
    headers: [],
    data: [],
    fields: [],
    method: undefined,
    mediaType: undefined,
    isQuery: false,
  };
  let at = 0;
  const apply = (name: string, attached: string | undefined) => {
    const effect = Object.hasOwn(valueOptions, name) ? valueOptions[name] : undefined;
    if (effect) effect(command, attached ?? words[++at] ?? '', warnings);
    else if (Object.hasOwn(flagEffects, name)) flagEffects[name]!(command, warnings);
    return effect !== undefined;
  };
  for (; at < words.length; at += 1) {
    const word = words[at]!;
    if (word.startsWith('--')) apply(word.slice(2), undefined);
    else if (word.startsWith('-') && word.length > 1) applyShort(word.slice(1), apply);
    else command.urls.push(word);
  }
  return command;
}

/** Combined short options: the first with a value takes the rest of the word, or the next word. */
function applyShort(letters: string, apply: (name: string, attached: string | undefined) => boolean): void {
  for (let index = 0; index < letters.length; index += 1) {
    const name = shortNames[letters[index]!];
    const rest = letters.slice(index + 1);
    if (name !== undefined && apply(name, rest === '' ? undefined : rest)) return;
  }
}

/** Characters of headers, data and fields that are copied for the second and later URLs of commands. */
const maxCopiedLength = 20_000_000;
/** Characters around a name and a value in the document. */
const partLength = 100;

interface CopyBudget {
  take(length: number): void;
}

/** Bounds the product of the URLs of commands and of what each URL is sent with. */
function createCopyBudget(): CopyBudget {
  let left = maxCopiedLength;
  return {
    take(length) {
      left -= length;
      if (left < 0) throw createTextProblem('it has too many URLs in one command with many headers or much data');
    },
  };
}

function addRequests(requests: RecordedRequest[], command: CurlCommand, copies: CopyBudget): void {
  const { headers, fields } = command;
  const sent = command.isQuery ? parsePairs(command.data.join('&')) : [];
  const body = command.isQuery ? undefined : toBody(command);
  const method = command.method ?? (body ? 'POST' : 'GET');
  const length = measureParts(headers) + measureParts(sent) + measureParts(fields) + measureBody(body) + method.length;
  let isFirst = true;
  for (const text of command.urls) {
    const url = splitUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
    if (!url) continue;
    if (requests.length >= maxRecordedRequests) throw createRequestsProblem();
    if (!isFirst) copies.take(length);
    isFirst = false;
    requests.push({ ...url, query: sent.length === 0 ? url.query : [...url.query, ...sent], method, headers, body });
  }
}

const measureParts = (parts: CurlCommand['fields']) =>
  parts.reduce((total, { name, value = '' }) => total + name.length + value.length + partLength, 0);
const measureBody = (body: RecordedBody | undefined) => (body ? body.mediaType.length + (body.text?.length ?? 0) : 0);

const parsePairs = (text: string) => [...new URLSearchParams(text)].map(([name, value]) => ({ name, value }));

function toBody({ data, fields, headers, mediaType }: CurlCommand): RecordedBody | undefined {
  const given = headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? mediaType;
  if (fields.length > 0) return { mediaType: given ?? 'multipart/form-data', fields };
  if (data.length === 0) return undefined;
  const text = data.join('&');
  return {
    mediaType: given ?? (/^\s*[[{]/.test(text) ? 'application/json' : 'application/x-www-form-urlencoded'),
    text,
  };
}
