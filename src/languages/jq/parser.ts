import { JqError } from './error.ts';
import { type JqToken, tokenizeFilter } from './lexer.ts';
import { type DestructuringPattern, type JqDefinition, type JqNode, type MemberPattern, toOptional } from './nodes.ts';
import { type Operator, operators } from './operators-table.ts';
import { declare, listVariables, type Scope } from './scope.ts';
import { TokenCursor } from './token-cursor.ts';

const maxSourceCharacters = 65_536;
/** Nesting of expressions. */
const maxNesting = 300;

const identity: JqNode = { kind: 'identity' };
const nullLiteral: JqNode = { kind: 'literal', value: null };

/** Parses a filter and resolves its names. */
export function parseFilter(source: string, scope: Scope): JqNode {
  if (source.length > maxSourceCharacters) throw new JqError(`longer than ${maxSourceCharacters} characters`);
  const parser = new Parser(tokenizeFilter(source), scope, source);
  return parser.isDone() ? identity : parser.readFilter();
}

/** Parses a list of definitions. */
export function parseDefinitions(source: string, scope: Scope): JqDefinition[] {
  const parser = new Parser(tokenizeFilter(source), scope, source);
  const found: JqDefinition[] = [];
  while (!parser.isDone()) found.push(parser.readDefinition());
  return found;
}

/** Recursive descent parser with precedence climbing. */
class Parser extends TokenCursor {
  readonly #source: string;
  #scope: Scope;
  #depth = 0;

  constructor(tokens: readonly JqToken[], scope: Scope, source: string) {
    super(tokens);
    this.#source = source;
    this.#scope = scope;
  }

  readFilter(): JqNode {
    // Definitions without a filter apply to the identity.
    const node = this.#readExpression(0);
    if (!this.isDone()) throw this.createUnexpectedError();
    return node;
  }

  /** Restores the scope afterwards. */
  #withScope<T>(scope: Scope, read: () => T): T {
    const outer = this.#scope;
    this.#scope = scope;
    const result = read();
    this.#scope = outer;
    return result;
  }

  #readExpression(minPrecedence: number): JqNode {
    if (++this.#depth > maxNesting) throw new JqError('parts are nested too deep', this.next.position);
    let left = this.#readOperand();
    for (let operator = this.#peekOperator(minPrecedence); operator; operator = this.#peekOperator(minPrecedence)) {
      const { text } = this.take();
      const right = this.#readExpression(
        operator.associativity === 'right' ? operator.precedence : operator.precedence + 1,
      );
      left = operator.buildNode(left, right, text);
      if (operator.associativity === 'none' && this.#peekOperator(minPrecedence)?.precedence === operator.precedence)
        throw this.createUnexpectedError();
    }
    this.#depth--;
    return left;
  }

  #peekOperator(minPrecedence: number): Operator | undefined {
    const { kind, text } = this.next;
    if (kind !== 'punctuator' && kind !== 'word') return undefined;
    const found = Object.hasOwn(operators, text) ? operators[text] : undefined;
    return found && found.precedence >= minPrecedence ? found : undefined;
  }

  /** A definition, a label, or a term with an optional `as`. */
  #readOperand(): JqNode {
    if (this.isNext('def', 'word')) {
      const made = this.readDefinition();
      return { kind: 'define', made, body: this.isDone() ? identity : this.#readExpression(0) };
    }
    if (this.eat('label', 'word')) {
      const name = this.#readVariableName();
      this.expect('|');
      const body = this.#withScope(declare(this.#scope, `*${name}`), () => this.#readExpression(0));
      return { kind: 'label', name, body };
    }
    if (this.isNext('-')) return this.#readNegative();
    const term = this.#readTerm();
    if (!this.eat('as', 'word')) return term;
    const patterns = this.#readPatterns();
    this.expect('|');
    return { kind: 'bind', source: term, patterns, body: this.#withVariables(patterns, () => this.#readExpression(0)) };
  }

  /** `-f?` is `(-f)?`: the question mark covers the minus too, unless it belongs to a path. */
  #readNegative(): JqNode {
    this.expect('-');
    const of = this.#withNesting(() => this.#readOperand());
    if (of.kind !== 'try' || of.caught) return { kind: 'negative', of };
    return { ...of, body: { kind: 'negative', of: of.body } };
  }

  #withNesting<T>(read: () => T): T {
    if (++this.#depth > maxNesting) throw new JqError('parts are nested too deep', this.next.position);
    const result = read();
    this.#depth--;
    return result;
  }

  #withVariables<T>(patterns: readonly DestructuringPattern[], read: () => T): T {
    const names = patterns.flatMap(listVariables);
    return this.#withScope(
      names.reduce((scope, name) => declare(scope, name), this.#scope),
      read,
    );
  }

  readDefinition(): JqDefinition {
    this.expect('def', 'word');
    if (this.next.kind !== 'word') throw this.createUnexpectedError();
    const { text } = this.take();
    const params: string[] = [];
    if (this.eat('(')) {
      do {
        if (this.next.kind !== 'word' && this.next.kind !== 'variable') throw this.createUnexpectedError();
        params.push(this.take().text);
      } while (this.eat(';'));
      this.expect(')');
    }
    this.expect(':');
    const name = `${text}/${params.length}`;
    const own = declare(this.#scope, name);
    const inner = params.reduce(
      (scope, param) =>
        param.startsWith('$') ? declare(declare(scope, param), `${param.slice(1)}/0`) : declare(scope, `${param}/0`),
      own,
    );
    const body = this.#withScope(inner, () => this.#readExpression(0));
    this.expect(';');
    this.#scope = own;
    return { name, params, body };
  }

  #readTerm(): JqNode {
    const isPath = this.next.kind === 'field' || (this.isNext('.') && this.following?.kind === 'string');
    let term = this.#readPrimary();
    let isSuffix = isPath;
    for (;;) {
      if (this.next.kind === 'field') term = { kind: 'index', of: term, by: toLiteral(this.take().text.slice(1)) };
      else if (this.isNext('.') && this.following?.kind === 'string') {
        this.take();
        term = { kind: 'index', of: term, by: this.#readString('text') };
      } else if (this.isNext('.') && this.following?.text === '[') this.take();
      else if (this.eat('[')) term = this.#readBracket(term);
      else if (this.eat('?')) {
        term = isSuffix ? toOptional(term) : { kind: 'try', body: term, caught: undefined };
        isSuffix = false;
        continue;
      } else return term;
      isSuffix = true;
    }
  }

  #readBracket(of: JqNode): JqNode {
    if (this.eat(']')) return { kind: 'each', of };
    if (this.eat(':')) return { kind: 'slice', of, from: undefined, to: this.#readUntil(']') };
    const by = this.#readExpression(0);
    if (!this.eat(':')) {
      this.expect(']');
      return { kind: 'index', of, by };
    }
    return { kind: 'slice', of, from: by, to: this.eat(']') ? undefined : this.#readUntil(']') };
  }

  #readUntil(sign: string): JqNode {
    const node = this.#readExpression(0);
    this.expect(sign);
    return node;
  }

  #readPrimary(): JqNode {
    const { kind, text, position } = this.next;
    if (kind === 'string') return this.#readString('text');
    if (kind === 'word') return this.#readCall();
    if (kind === 'end') throw this.createUnexpectedError();
    this.take();
    if (kind === 'number') return toLiteral(Number(text));
    if (kind === 'field') return { kind: 'index', of: identity, by: toLiteral(text.slice(1)) };
    if (kind === 'format')
      return this.next.kind === 'string' ? this.#readString(text.slice(1)) : { kind, name: text.slice(1) };
    if (kind === 'variable') return this.#readVariable(text, position);
    if (text === '.')
      return this.next.kind === 'string' ? { kind: 'index', of: identity, by: this.#readString('text') } : identity;
    if (text === '..') return { kind: 'recurse' };
    if (text === '(') return this.#readUntil(')');
    if (text === '[') return { kind: 'array', of: this.eat(']') ? undefined : this.#readUntil(']') };
    if (text === '{') return this.#readObject();
    this.putBack();
    throw this.createUnexpectedError();
  }

  #readVariable(text: string, position: number): JqNode {
    if (text === '$__loc__')
      return toLiteral({ file: '<top-level>', line: this.#source.slice(0, position).split('\n').length });
    if (!this.#scope.has(text))
      throw new JqError(this.#scope.unsupportedReason(text) ?? `${text} is not defined`, position);
    return { kind: 'variable', name: text };
  }

  #readString(format: string): JqNode {
    const { parts = [] } = this.take();
    if (parts.length === 1) return toLiteral(parts[0]);
    const nodes = parts.map(part =>
      typeof part === 'string' ? part : new Parser(part, this.#scope, this.#source).readFilter(),
    );
    return { kind: 'text', format, parts: nodes };
  }

  #readCall(): JqNode {
    const { text, position } = this.take();
    const special = this.#readKeyword(text);
    if (special) return special;
    const args: JqNode[] = [];
    if (this.eat('(')) {
      do args.push(this.#readExpression(0));
      while (this.eat(';'));
      this.expect(')');
    }
    const name = `${text}/${args.length}`;
    const why = this.#scope.unsupportedReason(name);
    if (why !== undefined) throw new JqError(why, position);
    if (!this.#scope.has(name)) throw new JqError(`${name} is not defined`, position);
    return { kind: 'call', name, args };
  }

  #readKeyword(text: string): JqNode | undefined {
    switch (text) {
      case 'null':
        return nullLiteral;
      case 'true':
      case 'false':
        return toLiteral(text === 'true');
      case 'if':
        return this.#readIf();
      case 'try': {
        const body = this.#withNesting(() => (this.isNext('-') ? this.#readNegative() : this.#readTerm()));
        return {
          kind: 'try',
          body,
          caught: this.eat('catch', 'word') ? this.#withNesting(() => this.#readTerm()) : undefined,
        };
      }
      case 'reduce':
      case 'foreach':
        return this.#readFold(text);
      case 'break': {
        const { position } = this.next;
        const name = this.#readVariableName();
        if (!this.#scope.has(`*${name}`)) throw new JqError(`no label ${name} is around this`, position);
        return { kind: 'break', name };
      }
      default:
        if (!reserved.has(text)) return undefined;
        this.putBack();
        throw this.createUnexpectedError();
    }
  }

  #readVariableName(): string {
    const token = this.next;
    if (token.kind !== 'variable') throw this.createUnexpectedError();
    this.take();
    return token.text;
  }

  #readIf(): JqNode {
    const test = this.#readExpression(0);
    this.expect('then', 'word');
    const yes = this.#readExpression(0);
    if (this.eat('elif', 'word')) return { kind: 'if', test, yes, no: this.#withNesting(() => this.#readIf()) };
    const no = this.eat('else', 'word') ? this.#readExpression(0) : identity;
    this.expect('end', 'word');
    return { kind: 'if', test, yes, no };
  }

  #readFold(kind: 'reduce' | 'foreach'): JqNode {
    const source = this.#withNesting(() => this.#readTerm());
    this.expect('as', 'word');
    const patterns = this.#readPatterns();
    this.expect('(');
    const start = this.#readExpression(0);
    this.expect(';');
    return this.#withVariables(patterns, () => {
      const update = this.#readExpression(0);
      const extract = kind === 'foreach' && this.eat(';') ? this.#readExpression(0) : identity;
      this.expect(')');
      return kind === 'reduce'
        ? { kind, source, patterns, start, update }
        : { kind, source, patterns, start, update, extract };
    });
  }

  #readPatterns(): DestructuringPattern[] {
    const found = [this.#readPattern()];
    while (this.eat('?//')) found.push(this.#readPattern());
    return found;
  }

  #readPattern(): DestructuringPattern {
    return this.#withNesting(() => {
      if (this.eat('[')) return { kind: 'items', items: this.#readList(']', () => this.#readPattern()) };
      if (this.eat('{')) return { kind: 'members', members: this.#readList('}', () => this.#readMemberPattern()) };
      return { kind: 'name', name: this.#readVariableName() };
    });
  }

  #readList<T>(end: string, read: () => T): T[] {
    const found: T[] = [];
    do found.push(read());
    while (this.eat(','));
    this.expect(end);
    return found;
  }

  #readMemberPattern(): MemberPattern {
    if (this.next.kind === 'variable') {
      const variable = this.#readVariableName();
      const value = this.eat(':') ? this.#readPattern() : undefined;
      return { key: toLiteral(variable.slice(1)), variable, value };
    }
    const key = this.#readKey();
    this.expect(':');
    return { key, variable: undefined, value: this.#readPattern() };
  }

  /** Key of a member: a word, number, string, format or parenthesised filter. */
  #readKey(): JqNode {
    const { kind, text } = this.next;
    if (kind === 'string') return this.#readString('text');
    if (kind === 'end') throw this.createUnexpectedError();
    this.take();
    if (kind === 'word') return toLiteral(text);
    if (kind === 'number') return toLiteral(Number(text));
    if (kind === 'format')
      return this.next.kind === 'string' ? this.#readString(text.slice(1)) : { kind, name: text.slice(1) };
    if (kind === 'punctuator' && text === '(') return this.#readUntil(')');
    this.putBack();
    throw this.createUnexpectedError();
  }

  #readObject(): JqNode {
    if (this.eat('}')) return { kind: 'object', members: [] };
    return { kind: 'object', members: this.#readList('}', () => this.#readMember()) };
  }

  #readMember(): readonly [JqNode, JqNode] {
    if (this.next.kind === 'variable') {
      const { text, position } = this.take();
      return [toLiteral(text.slice(1)), this.#readVariable(text, position)];
    }
    const name = this.#readKey();
    if (!this.eat(':')) return [name, { kind: 'index', of: identity, by: name }];
    let value = this.#readExpression(operators['//']!.precedence);
    while (this.eat('|'))
      value = { kind: 'pipe', left: value, right: this.#readExpression(operators['//']!.precedence) };
    return [name, value];
  }
}

const toLiteral = (value: unknown): JqNode => ({ kind: 'literal', value });
const reserved = new Set('as then elif else end and or catch def label import include __loc__'.split(' '));
