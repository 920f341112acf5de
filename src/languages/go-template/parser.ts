import { TemplateError } from './error.ts';
import type { TemplateFunction } from './functions/fn.ts';
import { type TemplateToken, type TemplateTokenKind, tokenizeTemplate } from './lexer.ts';
import type { NodeList, Operand, ParseText, Pipe, TemplateNode } from './nodes.ts';

export interface ParsedTemplate {
  /** The named parts of a source; the whole itself has an empty name. */
  readonly definitions: ReadonlyMap<string, TemplateDefinition>;
  /** Names of the functions it calls. */
  readonly calls: ReadonlySet<string>;
}

export interface TemplateDefinition {
  readonly body: NodeList;
  /** How many variables can be alive at once. */
  readonly slots: number;
}

/** Structures and parentheses that may be open at once. */
const maxNesting = 200;
const maxSourceCharacters = 1024 * 1024;
/** Variables in reach at once: each use looks through them. */
const maxVariables = 1000;

/** Why a list ended: at `end`, at `else` (whose condition may follow), or with the source. */
type Ending = 'end' | 'else' | 'source';

export function parseTemplate(
  source: string,
  functions: ReadonlyMap<string, TemplateFunction>,
  texts?: ParseText,
): ParsedTemplate {
  if (source.length > maxSourceCharacters) throw new TemplateError(`longer than ${maxSourceCharacters} characters`);
  const parser = new Parser(tokenizeTemplate(source), functions, texts);
  parser.whole();
  return parser;
}

/** Reads tokens from left to right. A class, for the place it is at. */
class Parser implements ParsedTemplate {
  readonly definitions = new Map<string, TemplateDefinition>();
  readonly calls = new Set<string>();
  readonly #tokens: readonly TemplateToken[];
  readonly #functions: ReadonlyMap<string, TemplateFunction>;
  readonly #texts: ParseText | undefined;
  /** Parts that are asked for, to be there when everything has been read. */
  readonly #asked: { readonly name: string; readonly line: number }[] = [];
  #at = 0;
  #depth = 0;
  #loops = 0;
  /** Names of the variables in reach; a variable's place is its place here. */
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

  whole(): void {
    const { body, ending } = this.#list(true);
    if (ending !== 'source') throw this.#fault(`unexpected {{${ending}}}`);
    this.definitions.set('', { body, slots: this.#slots });
    const missing = this.#asked.find(({ name }) => !this.definitions.has(name));
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

  #need(kind: TemplateTokenKind, where: string): TemplateToken {
    return this.#take(kind) ?? this.#unexpected(where);
  }

  #fault(what: string): TemplateError {
    return new TemplateError(what, this.#next.line);
  }

  #unexpected(where: string): never {
    const { kind, value } = this.#next;
    const found = kind === 'close' ? '}}' : kind === 'end' ? 'end of the template' : formatTokenValue(value);
    throw this.#fault(`unexpected ${found} in ${where}`);
  }

  #deeper<T>(read: () => T): T {
    if (++this.#depth > maxNesting) throw this.#fault(`nested deeper than ${maxNesting} levels`);
    const found = read();
    this.#depth--;
    return found;
  }

  /** What is declared inside is forgotten outside. */
  #scoped<T>(read: () => T): T {
    const mark = this.#variables.length;
    const found = this.#deeper(read);
    this.#variables.length = mark;
    return found;
  }

  #list(isTop = false): { body: NodeList; ending: Ending } {
    const body: TemplateNode[] = [];
    for (;;) {
      const { kind, value } = this.#next;
      if (kind === 'end') return { body, ending: 'source' };
      this.#at++;
      if (kind === 'text') body.push(...this.#text(value as string));
      else {
        const word = this.#is('word') ? (this.#next.value as string) : '';
        if (word === 'end' || word === 'else') {
          this.#at++;
          if (word === 'end') this.#need('close', 'end');
          return { body, ending: word };
        }
        const node = this.#action(word, isTop);
        if (node) body.push(node);
      }
    }
  }

  #text(text: string): TemplateNode[] {
    const parts = this.#texts?.(text) ?? [text];
    return parts.map(part =>
      typeof part === 'string'
        ? { kind: 'text', text: part, bytes: Buffer.byteLength(part) }
        : { kind: 'filled', substitute: part },
    );
  }

  #action(word: string, isTop: boolean): TemplateNode | undefined {
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        this.#at++;
        return this.#scoped(() => this.#control(word));
      case 'define':
        if (!isTop) throw this.#fault('unexpected {{define}} inside another action');
        this.#at++;
        return this.#define();
      case 'block':
        this.#at++;
        return this.#block();
      case 'template':
        this.#at++;
        return this.#template();
      case 'break':
      case 'continue':
        return this.#leave(word);
      default: {
        const pipe = this.#pipe('command');
        this.#need('close', 'command');
        return { kind: 'action', pipe };
      }
    }
  }

  #leave(kind: 'break' | 'continue'): TemplateNode {
    if (this.#loops === 0) throw this.#fault(`{{${kind}}} outside {{range}}`);
    this.#at++;
    this.#need('close', kind);
    return { kind };
  }

  /** `if`, `with` and `range`, whose word has been read. */
  #control(kind: 'if' | 'with' | 'range'): TemplateNode {
    const pipe = this.#pipe(kind, kind === 'range' ? 2 : 1);
    this.#need('close', kind);
    if (kind === 'range') this.#loops++;
    const mark = this.#variables.length;
    const { body, ending } = this.#list();
    this.#variables.length = mark;
    if (kind === 'range') this.#loops--;
    if (ending === 'source') throw this.#fault(`unclosed {{${kind}}}`);
    return { kind, pipe, body, otherwise: ending === 'else' ? this.#otherwise(kind) : undefined };
  }

  /** Behind `else`: another condition, which shares our `end`, or a list of its own. */
  #otherwise(kind: 'if' | 'with' | 'range'): NodeList {
    if (kind !== 'range' && this.#is('word', kind)) {
      this.#at++;
      return [this.#scoped(() => this.#control(kind))];
    }
    this.#need('close', 'else');
    const mark = this.#variables.length;
    const { body, ending } = this.#list();
    this.#variables.length = mark;
    if (ending === 'end') return body;
    throw this.#fault(ending === 'else' ? 'expected end; found {{else}}' : `unclosed {{${kind}}}`);
  }

  #named(where: string): string {
    return this.#need('string', `${where} clause`).value as string;
  }

  #define(): undefined {
    const name = this.#named('define');
    this.#need('close', 'define clause');
    this.#part(name, 'define');
  }

  #block(): TemplateNode {
    const { line } = this.#next;
    const name = this.#named('block');
    const pipe = this.#pipe('block clause');
    this.#need('close', 'block clause');
    this.#part(name, 'block');
    return { kind: 'template', name, pipe, line };
  }

  /** A named part sees its own variables only. An empty one does not take the place of one with something in it. */
  #part(name: string, kind: string): void {
    const outside = { variables: this.#variables, slots: this.#slots, loops: this.#loops };
    this.#variables = [''];
    this.#slots = 1;
    this.#loops = 0;
    const { body, ending } = this.#deeper(() => this.#list());
    if (ending !== 'end') throw this.#fault(ending === 'else' ? 'unexpected {{else}}' : `unclosed {{${kind}}}`);
    if (!this.definitions.has(name) || body.length > 0) this.definitions.set(name, { body, slots: this.#slots });
    this.#variables = outside.variables;
    this.#slots = outside.slots;
    this.#loops = outside.loops;
  }

  #template(): TemplateNode {
    const { line } = this.#next;
    const name = this.#named('template');
    const pipe = this.#is('close') ? undefined : this.#pipe('template clause');
    this.#need('close', 'template clause');
    this.#asked.push({ name, line });
    return { kind: 'template', name, pipe, line };
  }

  #pipe(where: string, most = 1): Pipe {
    const { line } = this.#next;
    const { names, isNew } = this.#declared(most);
    const commands: Operand[] = [this.#command(where, true)];
    while (this.#take('mark', '|')) commands.push(this.#piped(this.#command(where, false)));
    // Declared only now: a variable is not yet there in the value it gets.
    return { slots: names.map(name => (isNew ? this.#declare(name) : this.#slotOf(name))), commands, line };
  }

  /** Only a function can take what comes through a pipe. */
  #piped(command: Operand): Operand {
    if (command.kind === 'call') return command;
    throw this.#fault('non executable command in pipeline');
  }

  /** `$x :=`, `$x =` and, for ranges, `$i, $x :=`. */
  #declared(most: number): { names: string[]; isNew: boolean } {
    const start = this.#at;
    const names: string[] = [];
    while (this.#is('variable')) {
      names.push(this.#tokens[this.#at++]!.value as string);
      if (this.#take('mark', ',')) {
        if (names.length < most) continue;
        throw this.#fault('too many declarations');
      }
      if (this.#take('mark', ':=')) return { names, isNew: true };
      if (this.#take('mark', '=')) return { names, isNew: false };
      break;
    }
    if (names.length > 1) throw this.#fault('expected := behind the variables of a range');
    this.#at = start;
    return { names: [], isNew: false };
  }

  #declare(name: string): number {
    const slot = this.#variables.push(name) - 1;
    if (slot > maxVariables) throw this.#fault(`more than ${maxVariables} variables`);
    this.#slots = Math.max(this.#slots, this.#variables.length);
    return slot;
  }

  #slotOf(name: string): number {
    const slot = this.#variables.lastIndexOf(name);
    if (slot < 0) throw this.#fault(`undefined variable "$${name}"`);
    return slot;
  }

  #ends(): boolean {
    return this.#is('close') || this.#is('end') || this.#is('mark', '|') || this.#is('mark', ')');
  }

  #command(where: string, isFirst: boolean): Operand {
    if (this.#ends()) throw this.#fault(`missing value for ${where}`);
    const { line } = this.#next;
    const name = this.#is('word') ? (this.#next.value as string) : undefined;
    const first = this.#operand(where);
    const args: Operand[] = [];
    while (!this.#ends()) {
      if (!this.#next.spaced) this.#unexpected(where);
      args.push(this.#operand(where));
    }
    if (first.kind === 'call' && name === first.name) return { ...first, args };
    if (args.length > 0) throw new TemplateError("can't give argument to non-function", line);
    if (isFirst && name === 'nil') throw new TemplateError('nil is not a command', line);
    return first;
  }

  #operand(where: string): Operand {
    const { line } = this.#next;
    const term = this.#term(where);
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
        throw this.#fault(`unexpected . after ${formatTokenValue(term.value)}`);
      default:
        return { kind: 'chain', of: term, names, line };
    }
  }

  #term(where: string): Operand {
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
        return this.#word(value as string, line);
      default:
        if (!this.#take('mark', '(')) this.#unexpected(where);
        return this.#deeper(() => this.#parenthesised());
    }
  }

  #parenthesised(): Operand {
    const pipe = this.#pipe('parenthesized pipeline');
    if (!this.#take('mark', ')')) this.#unexpected('parenthesized pipeline');
    return { kind: 'pipe', pipe };
  }

  #word(name: string, line: number): Operand {
    if (name in constants) {
      this.#at++;
      return { kind: 'literal', value: constants[name] };
    }
    const fn = this.#functions.get(name);
    if (!fn) throw this.#fault(`function "${name}" not defined`);
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
