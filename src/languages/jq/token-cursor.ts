import { JqError } from './error.ts';
import type { JqToken } from './lexer.ts';

/** Position in a list of tokens that ends in an `end` token. */
export class TokenCursor {
  readonly #tokens: readonly JqToken[];
  #at = 0;

  constructor(tokens: readonly JqToken[]) {
    this.#tokens = tokens;
  }

  get next(): JqToken {
    return this.#tokens[this.#at]!;
  }

  /** The token after the next one. */
  get following(): JqToken | undefined {
    return this.#tokens[this.#at + 1];
  }

  isDone(): boolean {
    return this.next.kind === 'end';
  }

  isNext(text: string, kind: JqToken['kind'] = 'punctuator'): boolean {
    return this.next.kind === kind && this.next.text === text;
  }

  take(): JqToken {
    return this.#tokens[this.#at++]!;
  }

  /** Undoes one `take`, so that an error names the token. */
  putBack(): void {
    this.#at--;
  }

  /** Takes the next token if it matches. */
  eat(text: string, kind: JqToken['kind'] = 'punctuator'): boolean {
    const matches = this.isNext(text, kind);
    if (matches) this.#at++;
    return matches;
  }

  expect(text: string, kind: JqToken['kind'] = 'punctuator'): void {
    if (!this.eat(text, kind)) throw this.createUnexpectedError();
  }

  createUnexpectedError(): JqError {
    const { kind, text, position } = this.next;
    const reason = kind === 'end' ? 'the filter ends too early' : `unexpected ${kind === 'string' ? 'text' : text}`;
    return new JqError(reason, position);
  }
}
