import { compareCodePoints } from '../compare-code-points.ts';
import { isObject } from '../json-tree.ts';

/**
 * YAML of a JSON value, byte for byte the same for equal values: members sorted, texts plain where that is safe, blocks
 * for texts of several lines, JSON strings otherwise. Much faster than a general library, which a comparison of
 * thousands of files needs.
 */
export const formatSortedYaml = (value: unknown): string => `${formatLines(value).join('\n')}\n`;

/** The same as indented JSON. */
export const formatSortedJson = (value: unknown): string => `${JSON.stringify(sortMembers(value), null, 2)}\n`;

/** YAML bounds the length of a key that needs no marker. */
const maxPlainKeyLength = 1000;

function formatLines(value: unknown): string[] {
  if (Array.isArray(value) && value.length > 0) return value.flatMap(formatItem);
  if (isObject(value) && listMembers(value).length > 0) return listMembers(value).flatMap(formatMember);
  return typeof value === 'string' && isBlock(value) ? formatBlock(value) : [formatScalar(value)];
}

const listMembers = (object: Readonly<Record<string, unknown>>): [string, unknown][] =>
  Object.entries(object)
    .filter(([, member]) => member !== undefined)
    .sort(([left], [right]) => compareCodePoints(left, right));

const indent = (line: string) => (line === '' ? line : `  ${line}`);

function formatItem(item: unknown): string[] {
  const [first = '', ...rest] = formatLines(item);
  return [`- ${first}`, ...rest.map(indent)];
}

function formatMember([name, member]: [string, unknown]): string[] {
  const key = formatText(name);
  if (key.length > maxPlainKeyLength) return [`? ${key}`, `: ${JSON.stringify(sortMembers(member))}`];
  const lines = formatLines(member);
  const isInline = !isCollection(member);
  if (isInline) return [`${key}: ${lines[0]}`, ...lines.slice(1).map(indent)];
  return [`${key}:`, ...lines.map(indent)];
}

/** A collection with members, which starts on a line of its own. */
const isCollection = (value: unknown) =>
  Array.isArray(value) ? value.length > 0 : isObject(value) && listMembers(value).length > 0;

function formatScalar(value: unknown): string {
  if (typeof value === 'string') return formatText(value);
  if (Array.isArray(value)) return '[]';
  return isObject(value) ? '{}' : JSON.stringify(value);
}

const plainText = /^[A-Za-z_/](?:[\w/.@+=-]|:(?=[\w/.@+=-])| (?=[\w/.@+=-]))*$/;
const reservedText = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
const formatText = (text: string) => (plainText.test(text) && !reservedText.test(text) ? text : quote(text));

/** A JSON string is a YAML string; line separators and the like are escaped, which JSON does not require. */
const quote = (text: string) =>
  JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Several lines of printable text without blanks at their edges, with at most one line break at the end. */
function isBlock(text: string): boolean {
  if (!text.includes('\n')) return false;
  const lines = text.split('\n');
  const content = lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  return content.length > 0 && content.every(line => printable.test(line) && line.trim() === line && line !== '');
}
const printable = /^[ -~\u00a1-\u1fff]*$/;

/** Literal block scalar; its lines are indented by the caller. */
function formatBlock(text: string): string[] {
  const hasBreak = text.endsWith('\n');
  return [hasBreak ? '|' : '|-', ...(hasBreak ? text.slice(0, -1) : text).split('\n')];
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  return isObject(value)
    ? Object.fromEntries(listMembers(value).map(([name, member]) => [name, sortMembers(member)]))
    : value;
}
