import { JqFault } from './error.ts';

export interface Token {
  readonly is: 'sign' | 'field' | 'word' | 'variable' | 'number' | 'format' | 'string' | 'end';
  readonly text: string;
  /** Of a string: its pieces; those that are filters are tokens themselves. */
  readonly parts?: readonly (string | readonly Token[])[];
  /** Where it begins, counted from one. */
  readonly place: number;
}

const blank = /(?:\s+|#[^\n]*)+/y;
const patterns: readonly (readonly [Token['is'], RegExp])[] = [
  ['number', /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['field', /\.[A-Za-z_]\w*/y],
  ['word', /[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*/y],
  ['variable', /\$(?:__loc__|[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)/y],
  ['format', /@[A-Za-z0-9_]+/y],
  ['sign', /\?\/\/|\/\/=|\.\.|\|=|\+=|-=|\*=|\/=|%=|==|!=|<=|>=|\/\/|[.[\](){}|,:;=<>+\-*/%?$]/y],
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

/** Filters in texts in filters: more of it is nobody's handwriting. */
const deepestText = 20;

export function tokensOf(source: string): Token[] {
  const reader = new Reader(source);
  return reader.tokens(0);
}

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Up to the end, or inside a text to the parenthesis that closes the filter in it. */
  tokens(depth: number): Token[] {
    if (depth > deepestText) throw new JqFault('texts are nested too deep', this.#at + 1);
    const found: Token[] = [];
    for (let open = 0; ; ) {
      this.#match(blank);
      const place = this.#at + 1;
      if (this.#at >= this.#source.length) {
        if (depth > 0) throw new JqFault('a text is not closed', place);
        return [...found, { is: 'end', text: '', place }];
      }
      const token = this.#source[this.#at] === '"' ? this.#string(depth) : this.#token();
      if (token.text === '(' && token.is === 'sign') open++;
      if (token.text === ')' && token.is === 'sign' && open-- === 0 && depth > 0)
        return [...found, { is: 'end', text: '', place }];
      found.push(token);
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#source)?.[0];
    if (text !== undefined) this.#at += text.length;
    return text;
  }

  #token(): Token {
    const place = this.#at + 1;
    for (const [is, pattern] of patterns) {
      const text = this.#match(pattern);
      if (text !== undefined) return { is, text, place };
    }
    throw new JqFault(`unexpected ${JSON.stringify(String.fromCodePoint(this.#source.codePointAt(this.#at)!))}`, place);
  }

  #string(depth: number): Token {
    const place = this.#at + 1;
    const parts: (string | readonly Token[])[] = [];
    let plain = '';
    for (this.#at++; this.#source[this.#at] !== '"'; ) {
      const next = this.#source[this.#at];
      if (next === undefined) throw new JqFault('a text is not closed', place);
      this.#at++;
      if (next !== '\\') plain += next;
      else if (this.#source[this.#at] === '(') {
        this.#at++;
        parts.push(plain, this.tokens(depth + 1));
        plain = '';
      } else plain += this.#escaped();
    }
    this.#at++;
    return { is: 'string', text: '', parts: [...parts, plain], place };
  }

  #escaped(): string {
    const code = this.#match(/u[0-9a-fA-F]{4}/y);
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    const letter = this.#source[this.#at] ?? '';
    if (!Object.hasOwn(escapes, letter)) throw new JqFault('an unknown escape', this.#at);
    this.#at++;
    return escapes[letter]!;
  }
}
