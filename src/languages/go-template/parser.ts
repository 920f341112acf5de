import { TemplateError } from './error.ts';
import type { TemplateFunction } from './functions/fn.ts';
import { type TemplateToken, type TemplateTokenKind, tokenizeTemplate } from './lexer.ts';
import type { NodeList, Operand, ParseText, Pipe, TemplateNode } from './nodes.ts';

export interface ParsedTemplate {
  /** Named templates; the main one has an empty name. */
  readonly definitions: ReadonlyMap<string, TemplateDefinition>;
  /** Names of called functions. */
  readonly calls: ReadonlySet<string>;
}

export interface TemplateDefinition {
  readonly body: NodeList;
  /** Stack slots that its variables need. */
  readonly slots: number;
}

/** Nested structures and parentheses. */
const maxNesting = 200;
const maxSourceCharacters = 1024 * 1024;
/** Variables in scope: resolving one scans them all. */
const maxVariables = 1000;

/** End of a node list: `end`, `else` (a condition may follow), or the end of the source. */
type Ending = 'end' | 'else' | 'source';

export function parseTemplate(
  source: string,
  functions: ReadonlyMap<string, TemplateFunction>,
  texts?: ParseText,
  partials: ReadonlySet<string> = new Set(),
): ParsedTemplate {
  if (source.length > maxSourceCharacters) throw new TemplateError(`longer than ${maxSourceCharacters} characters`);
  const parser = new Parser(tokenizeTemplate(source), functions, texts);
  parser.readSource(partials);
  return parser;
}

/** Recursive descent parser. */
class Parser implements ParsedTemplate {
  readonly definitions = new Map<string, TemplateDefinition>();
  readonly calls = new Set<string>();
  readonly #tokens: readonly TemplateToken[];
  readonly #functions: ReadonlyMap<string, TemplateFunction>;
  readonly #texts: ParseText | undefined;
  /** Referenced templates, checked at the end: definitions may come later. */
  readonly #references: { readonly name: string; readonly line: number }[] = [];
  #at = 0;
  #depth = 0;
  #loops = 0;
  /** Variables in scope by slot. */
  #variables: string[] = [''];
  #slots = 1;

  constructor(
    tokens: readonly TemplateToken[],
    functions: ReadonlyMap<string, TemplateFunction>,
    texts: ParseText | undefined,
  ) {
    this.#tokens = tokens;
    this.#texts = texts;
    this.#functions = functions;
  }

  readSource(partials: ReadonlySet<string>): void {
    const { body, ending } = this.#readList(true);
    if (ending !== 'source') throw this.#createError(`unexpected {{${ending}}}`);
    this.definitions.set('', { body, slots: this.#slots });
    const missing = this.#references.find(({ name }) => !this.definitions.has(name) && !partials.has(name));
    if (missing) throw new TemplateError(`template "${missing.name}" not defined`, missing.line);
  }

  get #next(): TemplateToken {
    return this.#tokens[this.#at]!;
  }

  #is(kind: TemplateTokenKind, value?: string): boolean {
    const { kind: given, value: written } = this.#next;
    return given === kind && (value === undefined || written === value);
  }

  #take(kind: TemplateTokenKind, value?: string): TemplateToken | undefined {
    return this.#is(kind, value) ? this.#tokens[this.#at++] : undefined;
  }

  #expect(kind: TemplateTokenKind, where: string): TemplateToken {
    return this.#take(kind) ?? this.#throwUnexpected(where);
  }

  #createError(what: string): TemplateError {
    return new TemplateError(what, this.#next.line);
  }

  #throwUnexpected(where: string): never {
    const { kind, value } = this.#next;
    const found = kind === 'close' ? '}}' : kind === 'end' ? 'end of the template' : formatTokenValue(value);
    throw this.#createError(`unexpected ${found} in ${where}`);
  }

  #withNesting<T>(read: () => T): T {
    if (++this.#depth > maxNesting) throw this.#createError(`nested deeper than ${maxNesting} levels`);
    const found = read();
    this.#depth--;
    return found;
  }

  /** Restores the scope afterwards. */
  #withScope<T>(read: () => T): T {
    const mark = this.#variables.length;
    const found = this.#withNesting(read);
    this.#variables.length = mark;
    return found;
  }

  #readList(isTop = false): { body: NodeList; ending: Ending } {
    const body: TemplateNode[] = [];
    for (;;) {
      const { kind, value } = this.#next;
      if (kind === 'end') return { body, ending: 'source' };
      this.#at++;
      if (kind === 'text') body.push(...this.#toTextNodes(value as string));
      else {
        const word = this.#is('word') ? (this.#next.value as string) : '';
        if (word === 'end' || word === 'else') {
          this.#at++;
          if (word === 'end') this.#expect('close', 'end');
          return { body, ending: word };
        }
        const node = this.#readAction(word, isTop);
        if (node) body.push(node);
      }
    }
  }

  #toTextNodes(text: string): TemplateNode[] {
    const parts = this.#texts?.(text) ?? [text];
    return parts.map(part =>
      typeof part === 'string'
        ? { kind: 'text', text: part, bytes: Buffer.byteLength(part) }
        : { kind: 'filled', substitute: part },
    );
  }

  #readAction(word: string, isTop: boolean): TemplateNode | undefined {
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        this.#at++;
        return this.#withScope(() => this.#readControl(word));
      case 'define':
        if (!isTop) throw this.#createError('unexpected {{define}} inside another action');
        this.#at++;
        return this.#readDefine();
      case 'block':
        this.#at++;
        return this.#readBlock();
      case 'template':
        this.#at++;
        return this.#readTemplateCall();
      case 'break':
      case 'continue':
        return this.#readJump(word);
      default: {
        const pipe = this.#readPipe('command');
        this.#expect('close', 'command');
        return { kind: 'action', pipe };
      }
    }
  }

  #readJump(kind: 'break' | 'continue'): TemplateNode {
    if (this.#loops === 0) throw this.#createError(`{{${kind}}} outside {{range}}`);
    this.#at++;
    this.#expect('close', kind);
    return { kind };
  }

  /** `if`, `with` and `range`, after their keyword. */
  #readControl(kind: 'if' | 'with' | 'range'): TemplateNode {
    const pipe = this.#readPipe(kind, kind === 'range' ? 2 : 1);
    this.#expect('close', kind);
    if (kind === 'range') this.#loops++;
    const mark = this.#variables.length;
    const { body, ending } = this.#readList();
    this.#variables.length = mark;
    if (kind === 'range') this.#loops--;
    if (ending === 'source') throw this.#createError(`unclosed {{${kind}}}`);
    return { kind, pipe, body, otherwise: ending === 'else' ? this.#readElse(kind) : undefined };
  }

  /** After `else`: another condition, which shares the `end`, or a node list. */
  #readElse(kind: 'if' | 'with' | 'range'): NodeList {
    if (kind !== 'range' && this.#is('word', kind)) {
      this.#at++;
      return [this.#withScope(() => this.#readControl(kind))];
    }
    this.#expect('close', 'else');
    const mark = this.#variables.length;
    const { body, ending } = this.#readList();
    this.#variables.length = mark;
    if (ending === 'end') return body;
    throw this.#createError(ending === 'else' ? 'expected end; found {{else}}' : `unclosed {{${kind}}}`);
  }

  #readName(where: string): string {
    return this.#expect('string', `${where} clause`).value as string;
  }

  #readDefine(): undefined {
    const name = this.#readName('define');
    this.#expect('close', 'define clause');
    this.#readDefinition(name, 'define');
  }

  #readBlock(): TemplateNode {
    const { line } = this.#next;
    const name = this.#readName('block');
    const pipe = this.#readPipe('block clause');
    this.#expect('close', 'block clause');
    this.#readDefinition(name, 'block');
    return { kind: 'template', name, pipe, line };
  }

  /** A named template has its own scope. An empty definition does not replace one that is not. */
  #readDefinition(name: string, kind: string): void {
    const outside = { variables: this.#variables, slots: this.#slots, loops: this.#loops };
    this.#variables = [''];
    this.#slots = 1;
    this.#loops = 0;
    const { body, ending } = this.#withNesting(() => this.#readList());
    if (ending !== 'end') throw this.#createError(ending === 'else' ? 'unexpected {{else}}' : `unclosed {{${kind}}}`);
    if (!this.definitions.has(name) || body.length > 0) this.definitions.set(name, { body, slots: this.#slots });
    this.#variables = outside.variables;
    this.#slots = outside.slots;
    this.#loops = outside.loops;
  }

  #readTemplateCall(): TemplateNode {
    const { line } = this.#next;
    const name = this.#readName('template');
    const pipe = this.#is('close') ? undefined : this.#readPipe('template clause');
    this.#expect('close', 'template clause');
    this.#references.push({ name, line });
    return { kind: 'template', name, pipe, line };
  }

  #readPipe(where: string, maxNames = 1): Pipe {
    const { line } = this.#next;
    const { names, isNew } = this.#readVariables(maxNames);
    const commands: Operand[] = [this.#readCommand(where, true)];
    while (this.#take('mark', '|')) commands.push(this.#requireCall(this.#readCommand(where, false)));
    // Declared last: a variable is not in scope in its own value.
    return { slots: names.map(name => (isNew ? this.#declare(name) : this.#slotOf(name))), commands, line };
  }

  /** Only functions accept piped input. */
  #requireCall(command: Operand): Operand {
    if (command.kind === 'call') return command;
    throw this.#createError('non executable command in pipeline');
  }

  /** `$x :=`, `$x =` and, for ranges, `$i, $x :=`. */
  #readVariables(maxNames: number): { names: string[]; isNew: boolean } {
    const start = this.#at;
    const names: string[] = [];
    while (this.#is('variable')) {
      names.push(this.#tokens[this.#at++]!.value as string);
      if (this.#take('mark', ',')) {
        if (names.length < maxNames) continue;
        throw this.#createError('too many declarations');
      }
      if (this.#take('mark', ':=')) return { names, isNew: true };
      if (this.#take('mark', '=')) return { names, isNew: false };
      break;
    }
    if (names.length > 1) throw this.#createError('expected := behind the variables of a range');
    this.#at = start;
    return { names: [], isNew: false };
  }

  #declare(name: string): number {
    const slot = this.#variables.push(name) - 1;
    if (slot > maxVariables) throw this.#createError(`more than ${maxVariables} variables`);
    this.#slots = Math.max(this.#slots, this.#variables.length);
    return slot;
  }

  #slotOf(name: string): number {
    const slot = this.#variables.lastIndexOf(name);
    if (slot < 0) throw this.#createError(`undefined variable "$${name}"`);
    return slot;
  }

  #isAtEnd(): boolean {
    return this.#is('close') || this.#is('end') || this.#is('mark', '|') || this.#is('mark', ')');
  }

  #readCommand(where: string, isFirst: boolean): Operand {
    if (this.#isAtEnd()) throw this.#createError(`missing value for ${where}`);
    const { line } = this.#next;
    const name = this.#is('word') ? (this.#next.value as string) : undefined;
    const first = this.#readOperand(where);
    const args: Operand[] = [];
    while (!this.#isAtEnd()) {
      if (!this.#next.spaced) this.#throwUnexpected(where);
      args.push(this.#readOperand(where));
    }
    if (first.kind === 'call' && name === first.name) return { ...first, args };
    if (args.length > 0) throw new TemplateError("can't give argument to non-function", line);
    if (isFirst && name === 'nil') throw new TemplateError('nil is not a command', line);
    return first;
  }

  #readOperand(where: string): Operand {
    const { line } = this.#next;
    const term = this.#readTerm(where);
    const names: string[] = [];
    while (this.#is('field') && !this.#next.spaced) names.push(this.#tokens[this.#at++]!.value as string);
    if (names.length === 0) return term;
    switch (term.kind) {
      case 'field':
      case 'variable':
        return { ...term, names: [...term.names, ...names] };
      case 'dot':
        return { kind: 'field', names, line };
      case 'literal':
        throw this.#createError(`unexpected . after ${formatTokenValue(term.value)}`);
      default:
        return { kind: 'chain', of: term, names, line };
    }
  }

  #readTerm(where: string): Operand {
    const { kind, value, line } = this.#next;
    switch (kind) {
      case 'string':
      case 'number':
        this.#at++;
        return { kind: 'literal', value };
      case 'dot':
        this.#at++;
        return { kind };
      case 'field':
        this.#at++;
        return { kind, names: [value as string], line };
      case 'variable': {
        const slot = this.#slotOf(value as string);
        this.#at++;
        return { kind, slot, names: [], line };
      }
      case 'word':
        return this.#readWord(value as string, line);
      default:
        if (!this.#take('mark', '(')) this.#throwUnexpected(where);
        return this.#withNesting(() => this.#readParenthesised());
    }
  }

  #readParenthesised(): Operand {
    const pipe = this.#readPipe('parenthesized pipeline');
    if (!this.#take('mark', ')')) this.#throwUnexpected('parenthesized pipeline');
    return { kind: 'pipe', pipe };
  }

  #readWord(name: string, line: number): Operand {
    if (name in constants) {
      this.#at++;
      return { kind: 'literal', value: constants[name] };
    }
    const fn = this.#functions.get(name);
    if (!fn) throw this.#createError(`function "${name}" not defined`);
    this.#at++;
    this.calls.add(name);
    return { kind: 'call', name, fn, args: [], line };
  }
}

const formatTokenValue = (value: unknown) => (typeof value === 'string' ? JSON.stringify(value) : String(value));

const constants: Readonly<Record<string, unknown>> = Object.assign(Object.create(null), {
  true: true,
  false: false,
  nil: null,
});
