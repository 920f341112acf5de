import { JqError } from './error.ts';
import { type JqToken, tokenizeFilter } from './lexer.ts';
import { type DestructuringPattern, type JqDefinition, type JqNode, type MemberPattern, toOptional } from './nodes.ts';
import { type Operator, operators } from './operators-table.ts';
import { declare, listVariables, type Scope } from './scope.ts';

const maxSourceCharacters = 65_536;
/** How deep one part may stand in another. */
const maxNesting = 300;

const identity: JqNode = { is: 'identity' };
const nullLiteral: JqNode = { is: 'literal', value: null };

/** Reads a filter; names that nobody declared are found here, once. */
export function parseFilter(source: string, scope: Scope): JqNode {
  if (source.length > maxSourceCharacters) throw new JqError(`longer than ${maxSourceCharacters} characters`);
  const parser = new Parser(tokenizeFilter(source), scope, source);
  return parser.isDone() ? identity : parser.whole();
}

/** Reads nothing but definitions. */
export function parseDefinitions(source: string, scope: Scope): JqDefinition[] {
  const parser = new Parser(tokenizeFilter(source), scope, source);
  const found: JqDefinition[] = [];
  while (!parser.isDone()) found.push(parser.definition());
  return found;
}

class Parser {
  readonly #source: string;
  readonly #tokens: readonly JqToken[];
  #scope: Scope;
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly JqToken[], scope: Scope, source: string) {
    this.#source = source;
    this.#tokens = tokens;
    this.#scope = scope;
  }

  isDone(): boolean {
    return this.#next.is === 'end';
  }

  whole(): JqNode {
    // Definitions with nothing after them stand before what passes everything.
    const node = this.#expression(0);
    if (!this.isDone()) throw this.#unexpected();
    return node;
  }

  get #next(): JqToken {
    return this.#tokens[this.#at]!;
  }

  #unexpected(): JqError {
    const { is, text, position: place } = this.#next;
    const what = is === 'end' ? 'the filter ends too early' : `unexpected ${is === 'string' ? 'text' : text}`;
    return new JqError(what, place);
  }

  #take(): JqToken {
    return this.#tokens[this.#at++]!;
  }

  #is(text: string, is: JqToken['is'] = 'sign'): boolean {
    return this.#next.is === is && this.#next.text === text;
  }

  #eat(text: string, is: JqToken['is'] = 'sign'): boolean {
    const found = this.#is(text, is);
    if (found) this.#at++;
    return found;
  }

  #expect(text: string, is: JqToken['is'] = 'sign'): void {
    if (!this.#eat(text, is)) throw this.#unexpected();
  }

  /** What is declared inside is forgotten outside. */
  #within<T>(scope: Scope, read: () => T): T {
    const outer = this.#scope;
    this.#scope = scope;
    const result = read();
    this.#scope = outer;
    return result;
  }

  #expression(least: number): JqNode {
    if (++this.#depth > maxNesting) throw new JqError('parts are nested too deep', this.#next.position);
    let left = this.#operand();
    for (let operator = this.#operator(least); operator; operator = this.#operator(least)) {
      const { text } = this.#take();
      const right = this.#expression(operator.side === 'right' ? operator.binds : operator.binds + 1);
      left = operator.join(left, right, text);
      if (operator.side === 'none' && this.#operator(least)?.binds === operator.binds) throw this.#unexpected();
    }
    this.#depth--;
    return left;
  }

  #operator(least: number): Operator | undefined {
    const { is, text } = this.#next;
    if (is !== 'sign' && is !== 'word') return undefined;
    const found = Object.hasOwn(operators, text) ? operators[text] : undefined;
    return found && found.binds >= least ? found : undefined;
  }

  /** A term, and what stands behind it as far as it reaches. */
  #operand(): JqNode {
    if (this.#is('def', 'word')) {
      const made = this.definition();
      return { is: 'define', made, body: this.isDone() ? identity : this.#expression(0) };
    }
    if (this.#eat('label', 'word')) {
      const name = this.#variable();
      this.#expect('|');
      const body = this.#within(declare(this.#scope, `*${name}`), () => this.#expression(0));
      return { is: 'label', name, body };
    }
    if (this.#is('-')) return this.#negative();
    const term = this.#term();
    if (!this.#eat('as', 'word')) return term;
    const patterns = this.#patterns();
    this.#expect('|');
    return { is: 'bind', source: term, patterns, body: this.#seeing(patterns, () => this.#expression(0)) };
  }

  /** `-f?` is `(-f)?`: the question mark covers the sign too, unless it belongs to a path. */
  #negative(): JqNode {
    this.#expect('-');
    const of = this.#nested(() => this.#operand());
    if (of.is !== 'try' || of.caught) return { is: 'negative', of };
    return { ...of, body: { is: 'negative', of: of.body } };
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > maxNesting) throw new JqError('parts are nested too deep', this.#next.position);
    const result = read();
    this.#depth--;
    return result;
  }

  #seeing<T>(patterns: readonly DestructuringPattern[], read: () => T): T {
    const names = patterns.flatMap(listVariables);
    return this.#within(
      names.reduce((scope, name) => declare(scope, name), this.#scope),
      read,
    );
  }

  definition(): JqDefinition {
    this.#expect('def', 'word');
    if (this.#next.is !== 'word') throw this.#unexpected();
    const { text } = this.#take();
    const params: string[] = [];
    if (this.#eat('(')) {
      do {
        if (this.#next.is !== 'word' && this.#next.is !== 'variable') throw this.#unexpected();
        params.push(this.#take().text);
      } while (this.#eat(';'));
      this.#expect(')');
    }
    this.#expect(':');
    const name = `${text}/${params.length}`;
    const own = declare(this.#scope, name);
    const inner = params.reduce(
      (scope, param) =>
        param.startsWith('$') ? declare(declare(scope, param), `${param.slice(1)}/0`) : declare(scope, `${param}/0`),
      own,
    );
    const body = this.#within(inner, () => this.#expression(0));
    this.#expect(';');
    this.#scope = own;
    return { name, params, body };
  }

  #term(): JqNode {
    const isPath = this.#next.is === 'field' || (this.#is('.') && this.#tokens[this.#at + 1]?.is === 'string');
    let term = this.#primary();
    let isSuffix = isPath;
    for (;;) {
      if (this.#next.is === 'field') term = { is: 'index', of: term, by: toLiteral(this.#take().text.slice(1)) };
      else if (this.#is('.') && this.#tokens[this.#at + 1]?.is === 'string') {
        this.#at++;
        term = { is: 'index', of: term, by: this.#text('text') };
      } else if (this.#is('.') && this.#tokens[this.#at + 1]?.text === '[') this.#at++;
      else if (this.#eat('[')) term = this.#bracket(term);
      else if (this.#eat('?')) {
        term = isSuffix ? toOptional(term) : { is: 'try', body: term, caught: undefined };
        isSuffix = false;
        continue;
      } else return term;
      isSuffix = true;
    }
  }

  #bracket(of: JqNode): JqNode {
    if (this.#eat(']')) return { is: 'each', of };
    if (this.#eat(':')) return { is: 'slice', of, from: undefined, to: this.#closed(']') };
    const by = this.#expression(0);
    if (!this.#eat(':')) {
      this.#expect(']');
      return { is: 'index', of, by };
    }
    return { is: 'slice', of, from: by, to: this.#eat(']') ? undefined : this.#closed(']') };
  }

  #closed(sign: string): JqNode {
    const node = this.#expression(0);
    this.#expect(sign);
    return node;
  }

  #primary(): JqNode {
    const { is, text, position: place } = this.#next;
    if (is === 'string') return this.#text('text');
    if (is === 'word') return this.#word();
    if (is === 'end') throw this.#unexpected();
    this.#at++;
    if (is === 'number') return toLiteral(Number(text));
    if (is === 'field') return { is: 'index', of: identity, by: toLiteral(text.slice(1)) };
    if (is === 'format') return this.#next.is === 'string' ? this.#text(text.slice(1)) : { is, name: text.slice(1) };
    if (is === 'variable') return this.#used(text, place);
    if (text === '.')
      return this.#next.is === 'string' ? { is: 'index', of: identity, by: this.#text('text') } : identity;
    if (text === '..') return { is: 'recurse' };
    if (text === '(') return this.#closed(')');
    if (text === '[') return { is: 'array', of: this.#eat(']') ? undefined : this.#closed(']') };
    if (text === '{') return this.#object();
    this.#at--;
    throw this.#unexpected();
  }

  #used(text: string, place: number): JqNode {
    if (text === '$__loc__')
      return toLiteral({ file: '<top-level>', line: this.#source.slice(0, place).split('\n').length });
    if (!this.#scope.has(text))
      throw new JqError(this.#scope.unsupportedReason(text) ?? `${text} is not defined`, place);
    return { is: 'variable', name: text };
  }

  #text(format: string): JqNode {
    const { parts = [] } = this.#take();
    if (parts.length === 1) return toLiteral(parts[0]);
    const nodes = parts.map(part =>
      typeof part === 'string' ? part : new Parser(part, this.#scope, this.#source).whole(),
    );
    return { is: 'text', format, parts: nodes };
  }

  #word(): JqNode {
    const { text, position: place } = this.#take();
    const special = this.#special(text);
    if (special) return special;
    const args: JqNode[] = [];
    if (this.#eat('(')) {
      do args.push(this.#expression(0));
      while (this.#eat(';'));
      this.#expect(')');
    }
    const name = `${text}/${args.length}`;
    const why = this.#scope.unsupportedReason(name);
    if (why !== undefined) throw new JqError(why, place);
    if (!this.#scope.has(name)) throw new JqError(`${name} is not defined`, place);
    return { is: 'call', name, args };
  }

  #special(text: string): JqNode | undefined {
    switch (text) {
      case 'null':
        return nullLiteral;
      case 'true':
      case 'false':
        return toLiteral(text === 'true');
      case 'if':
        return this.#condition();
      case 'try': {
        const body = this.#nested(() => (this.#is('-') ? this.#negative() : this.#term()));
        return { is: 'try', body, caught: this.#eat('catch', 'word') ? this.#nested(() => this.#term()) : undefined };
      }
      case 'reduce':
      case 'foreach':
        return this.#fold(text);
      case 'break': {
        const { position: place } = this.#next;
        const name = this.#variable();
        if (!this.#scope.has(`*${name}`)) throw new JqError(`no label ${name} is around this`, place);
        return { is: 'break', name };
      }
      default:
        if (!reserved.has(text)) return undefined;
        this.#at--;
        throw this.#unexpected();
    }
  }

  #variable(): string {
    const token = this.#next;
    if (token.is !== 'variable') throw this.#unexpected();
    this.#at++;
    return token.text;
  }

  #condition(): JqNode {
    const test = this.#expression(0);
    this.#expect('then', 'word');
    const yes = this.#expression(0);
    if (this.#eat('elif', 'word')) return { is: 'if', test, yes, no: this.#nested(() => this.#condition()) };
    const no = this.#eat('else', 'word') ? this.#expression(0) : identity;
    this.#expect('end', 'word');
    return { is: 'if', test, yes, no };
  }

  #fold(is: 'reduce' | 'foreach'): JqNode {
    const source = this.#nested(() => this.#term());
    this.#expect('as', 'word');
    const patterns = this.#patterns();
    this.#expect('(');
    const start = this.#expression(0);
    this.#expect(';');
    return this.#seeing(patterns, () => {
      const update = this.#expression(0);
      const extract = is === 'foreach' && this.#eat(';') ? this.#expression(0) : identity;
      this.#expect(')');
      return is === 'reduce'
        ? { is, source, patterns, start, update }
        : { is, source, patterns, start, update, extract };
    });
  }

  #patterns(): DestructuringPattern[] {
    const found = [this.#pattern()];
    while (this.#eat('?//')) found.push(this.#pattern());
    return found;
  }

  #pattern(): DestructuringPattern {
    return this.#nested(() => {
      if (this.#eat('[')) return { is: 'items', items: this.#listed(']', () => this.#pattern()) };
      if (this.#eat('{')) return { is: 'members', members: this.#listed('}', () => this.#memberPattern()) };
      return { is: 'name', name: this.#variable() };
    });
  }

  #listed<T>(end: string, read: () => T): T[] {
    const found: T[] = [];
    do found.push(read());
    while (this.#eat(','));
    this.#expect(end);
    return found;
  }

  #memberPattern(): MemberPattern {
    if (this.#next.is === 'variable') {
      const variable = this.#variable();
      const value = this.#eat(':') ? this.#pattern() : undefined;
      return { key: toLiteral(variable.slice(1)), variable, value };
    }
    const key = this.#name();
    this.#expect(':');
    return { key, variable: undefined, value: this.#pattern() };
  }

  /** What may name a member. */
  #name(): JqNode {
    const { is, text } = this.#next;
    if (is === 'string') return this.#text('text');
    if (is === 'end') throw this.#unexpected();
    this.#at++;
    if (is === 'word') return toLiteral(text);
    if (is === 'number') return toLiteral(Number(text));
    if (is === 'format') return this.#next.is === 'string' ? this.#text(text.slice(1)) : { is, name: text.slice(1) };
    if (is === 'sign' && text === '(') return this.#closed(')');
    this.#at--;
    throw this.#unexpected();
  }

  #object(): JqNode {
    if (this.#eat('}')) return { is: 'object', members: [] };
    return { is: 'object', members: this.#listed('}', () => this.#member()) };
  }

  #member(): readonly [JqNode, JqNode] {
    if (this.#next.is === 'variable') {
      const { text, position: place } = this.#take();
      return [toLiteral(text.slice(1)), this.#used(text, place)];
    }
    const name = this.#name();
    if (!this.#eat(':')) return [name, { is: 'index', of: identity, by: name }];
    let value = this.#expression(operators['//']!.binds);
    while (this.#eat('|')) value = { is: 'pipe', left: value, right: this.#expression(operators['//']!.binds) };
    return [name, value];
  }
}

const toLiteral = (value: unknown): JqNode => ({ is: 'literal', value });
const reserved = new Set('as then elif else end and or catch def label import include __loc__'.split(' '));
