import type { RegoName, RegoTerm } from './nodes.ts';
import type { RegoCursor } from './token-cursor.ts';

/** Reserved words, which name neither rules nor variables. */
export const regoKeywords = [
  ...['as', 'contains', 'default', 'else', 'every', 'false', 'if', 'import', 'in', 'not', 'null', 'package', 'some'],
  ...['true', 'with'],
];
const constants: Readonly<Record<string, true | false | null>> = { true: true, false: false, null: null };
const maxNesting = 50;
/** Members of one array, set or object, and arguments of one call. */
const maxItems = 500;

export function parseTerm(cursor: RegoCursor, depth = 0): RegoTerm {
  if (depth > maxNesting) cursor.refuse(`nested deeper than ${maxNesting} levels`);
  return parsePath(cursor, parseHead(cursor, depth), depth);
}

function parseHead(cursor: RegoCursor, depth: number): RegoTerm {
  const token = cursor.peek();
  if (token.kind === 'string') return { kind: 'constant', value: cursor.take().text };
  if (token.kind === 'number') return { kind: 'constant', value: parseNumber(cursor) };
  if (token.kind === 'name') return parseWord(cursor, depth);
  if (cursor.accept('-')) {
    if (cursor.peek().kind !== 'number') cursor.refuse('arithmetic is not supported', token);
    return { kind: 'constant', value: -parseNumber(cursor) };
  }
  if (cursor.accept('[')) return { kind: 'array', items: parseItems(cursor, ']', depth) };
  if (cursor.isAt('{')) return parseBraces(cursor, depth);
  return cursor.refuse(token.kind === 'end' ? 'a term is missing' : `unexpected ${token.text}`);
}

function parseNumber(cursor: RegoCursor): number {
  const token = cursor.take();
  const value = Number(token.text);
  return Number.isFinite(value) ? value : cursor.refuse('the number is too large', token);
}

function parseWord(cursor: RegoCursor, depth: number): RegoTerm {
  const token = cursor.take();
  const { text, line, column } = token;
  const at = { line, column };
  if (Object.hasOwn(constants, text)) return { kind: 'constant', value: constants[text]! };
  if (text === '_') return { kind: 'any', at };
  if (text === 'data') cursor.refuse('data is not supported: rules can refer to input only', token);
  const isCall = text === 'contains' && cursor.isAt('(');
  if (regoKeywords.includes(text) && !isCall) cursor.refuse(`${text} is not supported here`, token);
  if (text === 'set' && cursor.isAt('(')) {
    cursor.take();
    cursor.expect(')');
    return { kind: 'set', items: [] };
  }
  return parseCall(cursor, { kind: 'name', name: text, at }, depth);
}

/** A call is a name, with dots or without, and arguments right behind it. */
function parseCall(cursor: RegoCursor, name: RegoName, depth: number): RegoTerm {
  const isNamespace = cursor.isAt('.') && callNamespaces.includes(name.name) && cursor.peekNext().kind === 'name';
  let full = name.name;
  if (isNamespace) {
    cursor.take();
    full += `.${cursor.take().text}`;
  }
  if (!cursor.isAt('(') || cursor.peek().startsLine) {
    if (isNamespace) cursor.refuse(`${full} is not supported`);
    return name;
  }
  cursor.take();
  return { kind: 'call', name: full, args: parseItems(cursor, ')', depth), at: name.at };
}
/** First words of functions with a dot in their name. */
const callNamespaces = ['object', 'array', 'json', 'regex', 'time', 'strings', 'http', 'opa', 'net', 'io', 'crypto'];

function parsePath(cursor: RegoCursor, head: RegoTerm, depth: number): RegoTerm {
  const path: RegoTerm[] = [];
  for (;;) {
    if (cursor.isAt('.') && !cursor.peek().startsLine) {
      cursor.take();
      path.push({ kind: 'constant', value: cursor.takeName().text });
    } else if (cursor.isAt('[') && !cursor.peek().startsLine) {
      cursor.take();
      path.push(parseTerm(cursor, depth + 1));
      cursor.expect(']');
    } else break;
  }
  if (cursor.isAt('(') && !cursor.peek().startsLine) cursor.refuse('unexpected (');
  if (path.length === 0) return head;
  if (head.kind === 'constant' || head.kind === 'any') cursor.refuse('a constant has no members');
  return { kind: 'ref', head, path };
}

function parseItems(cursor: RegoCursor, end: string, depth: number): RegoTerm[] {
  const items: RegoTerm[] = [];
  while (!cursor.accept(end)) {
    if (items.length >= maxItems) cursor.refuse(`more than ${maxItems} members`);
    items.push(parseTerm(cursor, depth + 1));
    if (cursor.isAt('|')) cursor.refuse('comprehensions are not supported');
    if (!cursor.isAt(end)) cursor.expect(',');
  }
  return items;
}

/** A set, or an object where a colon follows the first term. */
function parseBraces(cursor: RegoCursor, depth: number): RegoTerm {
  cursor.take();
  if (cursor.accept('}')) return { kind: 'object', entries: [] };
  const first = parseTerm(cursor, depth + 1);
  if (cursor.isAt('|')) cursor.refuse('comprehensions are not supported');
  if (!cursor.isAt(':')) {
    if (!cursor.isAt('}')) cursor.expect(',');
    return { kind: 'set', items: [first, ...parseItems(cursor, '}', depth)] };
  }
  const entries: [RegoTerm, RegoTerm][] = [];
  for (let key = first; ; key = parseTerm(cursor, depth + 1)) {
    if (entries.length >= maxItems) cursor.refuse(`more than ${maxItems} members`);
    cursor.expect(':');
    entries.push([key, parseTerm(cursor, depth + 1)]);
    if (cursor.isAt('|')) cursor.refuse('comprehensions are not supported');
    if (cursor.accept('}')) return { kind: 'object', entries };
    cursor.expect(',');
    if (cursor.accept('}')) return { kind: 'object', entries };
  }
}
