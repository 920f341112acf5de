import { RegoError } from './error.ts';
import { type RegoToken, tokenizeRego } from './lexer.ts';

/** Cursor over the tokens of a module. */
export interface RegoCursor {
  peek(): RegoToken;
  peekNext(): RegoToken;
  take(): RegoToken;
  /** True for this mark or word. A string of the same text is neither. */
  isAt(text: string): boolean;
  /** Takes the mark or word where it is next. */
  accept(text: string): boolean;
  expect(text: string): RegoToken;
  takeName(): RegoToken;
  refuse(reason: string, token?: RegoToken): never;
}

export function createRegoCursor(source: string): RegoCursor {
  const tokens = tokenizeRego(source);
  let index = 0;
  const peek = () => tokens[index]!;
  const describe = (token: RegoToken) => (token.kind === 'end' ? 'the end' : source.slice(token.start, token.end));
  const refuse = (reason: string, token = peek()): never => {
    throw new RegoError(reason, token);
  };
  const isAt = (text: string) => (peek().kind === 'mark' || peek().kind === 'name') && peek().text === text;
  const take = () => {
    const token = peek();
    if (token.kind !== 'end') index++;
    return token;
  };
  return {
    peek,
    peekNext: () => tokens[Math.min(index + 1, tokens.length - 1)]!,
    take,
    isAt,
    accept(text) {
      const isNext = isAt(text);
      if (isNext) take();
      return isNext;
    },
    expect: text => (isAt(text) ? take() : refuse(`expected ${text}, found ${describe(peek())}`)),
    takeName: () => (peek().kind === 'name' ? take() : refuse(`expected a name, found ${describe(peek())}`)),
    refuse,
  };
}
