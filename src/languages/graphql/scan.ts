import { GraphQLError, Lexer, Source, TokenKind } from 'graphql';

/** Bounds of a text before it is parsed: the parser takes stack for each level and memory for each token. */
export interface ScanBounds {
  readonly maxTokens: number;
  readonly maxNesting: number;
}

const openers: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closers: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Results repeat the names of a document for every item of a list. */
const maxNameLength = 256;

/** Lexical scan: throws `GraphQLError` at the first invalid token, and at the first one beyond a bound. Counts tokens. */
export function scanGraphqlText(text: string, { maxTokens, maxNesting }: ScanBounds): number {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let nesting = 0;
  for (let { kind, start, end } = lexer.advance(); kind !== TokenKind.EOF; { kind, start, end } = lexer.advance()) {
    if (++tokens > maxTokens) throw new GraphQLError(`the document has more than ${maxTokens} tokens`);
    if (kind === TokenKind.NAME && end - start > maxNameLength)
      throw new GraphQLError(`a name is longer than ${maxNameLength} characters`);
    if (openers.has(kind)) nesting++;
    else if (closers.has(kind)) nesting--;
    if (nesting > maxNesting) throw new GraphQLError(`the document is nested deeper than ${maxNesting} levels`);
  }
  return tokens;
}
