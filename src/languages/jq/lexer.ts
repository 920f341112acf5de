import { JqError } from './error.ts';

export interface JqToken {
  readonly kind: 'punctuator' | 'field' | 'word' | 'variable' | 'number' | 'format' | 'string' | 'end';
  readonly text: string;
  /** Parts of a string: literal text, and tokens of interpolated filters. */
  readonly parts?: readonly (string | readonly JqToken[])[];
  /** Character in the source, counted from one. */
  readonly position: number;
}

const blank = /(?:\s+|#[^\n]*)+/y;
const patterns: readonly (readonly [JqToken['kind'], RegExp])[] = [
  ['number', /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['field', /\.[A-Za-z_]\w*/y],
  ['word', /[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*/y],
  ['variable', /\$(?:__loc__|[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)/y],
  ['format', /@[A-Za-z0-9_]+/y],
  ['punctuator', /\?\/\/|\/\/=|\.\.|\|=|\+=|-=|\*=|\/=|%=|==|!=|<=|>=|\/\/|[.[\](){}|,:;=<>+\-*/%?$]/y],
];

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Nesting of string interpolation. */
const maxStringNesting = 20;

export function tokenizeFilter(source: string): JqToken[] {
  const lexer = new Lexer(source);
  return lexer.readTokens(0);
}

class Lexer {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Reads to the end, or to the parenthesis that closes an interpolation. */
  readTokens(depth: number): JqToken[] {
    if (depth > maxStringNesting) throw new JqError('texts are nested too deep', this.#at + 1);
    const found: JqToken[] = [];
    for (let open = 0; ; ) {
      this.#match(blank);
      const position = this.#at + 1;
      if (this.#at >= this.#source.length) {
        if (depth > 0) throw new JqError('a text is not closed', position);
        return [...found, { kind: 'end', text: '', position }];
      }
      const token = this.#source[this.#at] === '"' ? this.#readString(depth) : this.#readToken();
      if (token.text === '(' && token.kind === 'punctuator') open++;
      if (token.text === ')' && token.kind === 'punctuator' && open-- === 0 && depth > 0)
        return [...found, { kind: 'end', text: '', position }];
      found.push(token);
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#source)?.[0];
    if (text !== undefined) this.#at += text.length;
    return text;
  }

  #readToken(): JqToken {
    const position = this.#at + 1;
    for (const [kind, pattern] of patterns) {
      const text = this.#match(pattern);
      if (text !== undefined) return { kind, text, position };
    }
    throw new JqError(
      `unexpected ${JSON.stringify(String.fromCodePoint(this.#source.codePointAt(this.#at)!))}`,
      position,
    );
  }

  #readString(depth: number): JqToken {
    const position = this.#at + 1;
    const parts: (string | readonly JqToken[])[] = [];
    let plain = '';
    for (this.#at++; this.#source[this.#at] !== '"'; ) {
      const next = this.#source[this.#at];
      if (next === undefined) throw new JqError('a text is not closed', position);
      this.#at++;
      if (next !== '\\') plain += next;
      else if (this.#source[this.#at] === '(') {
        this.#at++;
        parts.push(plain, this.readTokens(depth + 1));
        plain = '';
      } else plain += this.#readEscape();
    }
    this.#at++;
    return { kind: 'string', text: '', parts: [...parts, plain], position };
  }

  #readEscape(): string {
    const code = this.#match(/u[0-9a-fA-F]{4}/y);
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    const letter = this.#source[this.#at] ?? '';
    if (!Object.hasOwn(escapes, letter)) throw new JqError('an unknown escape', this.#at);
    this.#at++;
    return escapes[letter]!;
  }
}
