import type { RegoPosition } from './error.ts';
import {
  comparisons,
  type RegoName,
  type RegoRule,
  type RegoStatement,
  type RegoSyntax,
  type RegoTerm,
} from './nodes.ts';
import { parseTerm, regoKeywords } from './term-parser.ts';
import { createRegoCursor, type RegoCursor } from './token-cursor.ts';

const maxStatements = 200;
const trueTerm: RegoTerm = { kind: 'constant', value: true };

/** Parses a module: package, imports of keywords, rules. */
export function parseRego(source: string): RegoSyntax {
  const cursor = createRegoCursor(source);
  cursor.expect('package');
  parsePackagePath(cursor);
  const rules: RegoRule[] = [];
  const defaults = new Map<string, { value: RegoTerm; at: RegoPosition }>();
  for (;;) {
    if (cursor.peek().kind === 'end') return { rules, defaults };
    if (!cursor.peek().startsLine && !cursor.accept(';')) cursor.refuse('expected the end of the line');
    if (cursor.isAt('import')) parseImport(cursor);
    else if (cursor.isAt('default')) parseDefault(cursor, defaults);
    else rules.push(parseRule(cursor));
  }
}

function parsePackagePath(cursor: RegoCursor): void {
  cursor.takeName();
  for (;;) {
    if (cursor.accept('.')) cursor.takeName();
    else if (cursor.isAt('[') && !cursor.peek().startsLine) {
      cursor.take();
      if (cursor.take().kind !== 'string') cursor.refuse('expected a text');
      cursor.expect(']');
    } else return;
  }
}

const imports = ['rego.v1', 'future.keywords'];

/** The keywords of both versions of the language are always available: their imports have no effect. */
function parseImport(cursor: RegoCursor): void {
  const token = cursor.take();
  let path = cursor.takeName().text;
  while (cursor.accept('.')) path += `.${cursor.take().text}`;
  const isKeyword = imports.some(it => path === it || path.startsWith(`${it}.`));
  if (!isKeyword) cursor.refuse(`import ${path} is not supported`, token);
  if (cursor.isAt('as')) cursor.refuse('import … as is not supported');
}

function parseDefault(cursor: RegoCursor, defaults: Map<string, { value: RegoTerm; at: RegoPosition }>): void {
  cursor.take();
  const name = takeRuleName(cursor);
  if (defaults.has(name.text)) cursor.refuse(`${name.text} has two defaults`, name);
  if (cursor.isAt('(')) cursor.refuse('defaults of functions are not supported');
  if (!cursor.accept('=')) cursor.expect(':=');
  const value = parseTerm(cursor);
  if (!isConstant(value)) cursor.refuse('a default must be a constant', name);
  defaults.set(name.text, { value, at: name });
}

const isConstant = (term: RegoTerm): boolean =>
  term.kind === 'constant' ||
  ((term.kind === 'array' || term.kind === 'set') && term.items.every(isConstant)) ||
  (term.kind === 'object' && term.entries.every(entry => entry.every(isConstant)));

function takeRuleName(cursor: RegoCursor) {
  const token = cursor.takeName();
  const isReserved = regoKeywords.includes(token.text) || ['_', 'input', 'data', 'set'].includes(token.text);
  if (isReserved) cursor.refuse(`${token.text} cannot be the name of a rule`, token);
  return token;
}

function parseRule(cursor: RegoCursor): RegoRule {
  const name = takeRuleName(cursor);
  const head = parseRuleHead(cursor);
  const hasIf = cursor.accept('if');
  if (hasIf && head.isBracketed) cursor.refuse('name[…] if is not supported: use contains', name);
  const body = parseRuleBody(cursor, hasIf);
  const isComplete = body !== undefined || head.hasValue;
  if (!isComplete || (head.isBracketed && !body)) cursor.refuse('the rule has no body');
  if (cursor.isAt('else') || cursor.isAt('{')) cursor.refuse(`${cursor.peek().text} is not supported behind a rule`);
  const { kind, params, value } = head;
  return { kind, name: name.text, at: name, params, value, body: body ?? [] };
}

interface RuleHead extends Pick<RegoRule, 'kind' | 'params' | 'value'> {
  readonly hasValue: boolean;
  /** `name[member]`, the older form of a set. */
  readonly isBracketed: boolean;
}

function parseRuleHead(cursor: RegoCursor): RuleHead {
  if (cursor.accept('contains')) {
    const value = parseTerm(cursor);
    return { kind: 'set', params: [], value, hasValue: true, isBracketed: false };
  }
  if (cursor.accept('[')) {
    const value = parseTerm(cursor);
    cursor.expect(']');
    if (['=', ':=', '.', '['].some(cursor.isAt)) cursor.refuse('rules that are objects are not supported');
    return { kind: 'set', params: [], value, hasValue: true, isBracketed: true };
  }
  if (cursor.isAt('.')) cursor.refuse('rules with a path are not supported');
  const params = cursor.isAt('(') ? parseParams(cursor) : undefined;
  const hasValue = cursor.accept('=') || cursor.accept(':=');
  const value = hasValue ? parseTerm(cursor) : trueTerm;
  return { kind: params ? 'function' : 'complete', params: params ?? [], value, hasValue, isBracketed: false };
}

function parseParams(cursor: RegoCursor): RegoTerm[] {
  const params: RegoTerm[] = [];
  cursor.expect('(');
  while (!cursor.accept(')')) {
    const token = cursor.peek();
    const param = parseTerm(cursor);
    const isRepeated = params.some(it => it.kind === 'name' && param.kind === 'name' && it.name === param.name);
    if ((param.kind !== 'name' && param.kind !== 'any') || isRepeated)
      cursor.refuse('a parameter must be a name of its own', token);
    params.push(param);
    if (!cursor.isAt(')')) cursor.expect(',');
  }
  return params;
}

/** Statements in braces, or one statement behind `if`; undefined where there is neither. */
function parseRuleBody(cursor: RegoCursor, hasIf: boolean): RegoStatement[] | undefined {
  if (!cursor.isAt('{') || (cursor.peek().startsLine && !hasIf)) return hasIf ? [parseStatement(cursor)] : undefined;
  cursor.take();
  const statements: RegoStatement[] = [];
  while (!cursor.accept('}')) {
    if (statements.length >= maxStatements) cursor.refuse(`more than ${maxStatements} statements`);
    statements.push(parseStatement(cursor));
    const isSeparated = cursor.accept(';') || cursor.isAt('}') || cursor.peek().startsLine;
    if (!isSeparated) cursor.refuse(`unexpected ${cursor.peek().text}`);
  }
  if (statements.length === 0) cursor.refuse('the body is empty');
  return statements;
}

function parseStatement(cursor: RegoCursor): RegoStatement {
  if (cursor.isAt('every')) cursor.refuse('every is not supported');
  if (cursor.accept('not')) return { kind: 'not', statement: parsePositive(cursor) };
  if (cursor.accept('some')) return parseSome(cursor);
  return parsePositive(cursor);
}

function parsePositive(cursor: RegoCursor): RegoStatement {
  const token = cursor.peek();
  if (cursor.isAt('not') || cursor.isAt('some')) cursor.refuse(`${token.text} is not supported here`);
  const left = parseTerm(cursor);
  if (cursor.peek().startsLine) return { kind: 'term', term: left };
  const statement = parseInfix(cursor, left);
  if (cursor.isAt('with') && !cursor.peek().startsLine) cursor.refuse('with is not supported');
  return statement;
}

function parseInfix(cursor: RegoCursor, left: RegoTerm): RegoStatement {
  const sign = comparisons.find(cursor.isAt);
  if (sign) {
    cursor.take();
    return { kind: 'compare', sign, left, right: parseTerm(cursor) };
  }
  if (cursor.accept('in')) return { kind: 'in', item: left, collection: parseTerm(cursor) };
  if (cursor.accept('=')) return { kind: 'unify', left, right: parseTerm(cursor) };
  if (cursor.isAt(':=')) {
    if (left.kind !== 'name') return cursor.refuse('only a name can be assigned to');
    cursor.take();
    return { kind: 'assign', name: left, value: parseTerm(cursor) };
  }
  return { kind: 'term', term: left };
}

/** `some x, y`, `some x in collection`, `some key, value in collection`. */
function parseSome(cursor: RegoCursor): RegoStatement {
  const names: (RegoName | undefined)[] = [];
  do {
    const token = cursor.takeName();
    const { text, line, column } = token;
    if (text !== '_' && regoKeywords.includes(text)) cursor.refuse(`${text} cannot be a variable`, token);
    names.push(text === '_' ? undefined : { kind: 'name', name: text, at: { line, column } });
  } while (cursor.accept(','));
  if (!cursor.accept('in')) {
    const named = names.filter(name => name !== undefined);
    if (named.length < names.length) cursor.refuse('_ cannot be declared with some');
    return { kind: 'some', names: named };
  }
  if (names.length > 2) cursor.refuse('some … in takes a key and a value');
  const [key, value] = names.length === 2 ? names : [undefined, names[0]];
  return { kind: 'some in', key, value, collection: parseTerm(cursor) };
}
