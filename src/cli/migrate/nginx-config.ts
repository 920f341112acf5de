/** Parser of nginx configuration: directives with their words, lines and blocks. Nothing is included or expanded. */

export interface NginxDirective {
  readonly name: string;
  readonly words: readonly string[];
  readonly line: number;
  /** Undefined for a simple directive. */
  readonly block: readonly NginxDirective[] | undefined;
}

interface Token {
  readonly text: string;
  readonly line: number;
  /** Quoted words are never braces or semicolons. */
  readonly isQuoted: boolean;
}

const maxDepth = 20;

/** Undefined, with the line, where the text is no configuration. */
export type ParsedNginx = { readonly directives: readonly NginxDirective[] } | { readonly errorLine: number };

export function parseNginx(text: string): ParsedNginx {
  const tokens = splitTokens(text);
  const cursor = { at: 0 };
  const directives = readBlock(tokens, cursor, 0);
  if (!directives || cursor.at < tokens.length)
    return { errorLine: tokens[cursor.at]?.line ?? tokens.at(-1)?.line ?? 1 };
  return { directives };
}

/** In order: line ends, white space, comments, quoted words, signs, plain words, and a quotation mark without an end. */
const tokenPattern = new RegExp(
  [
    /(\n)/,
    /(\s+?)/,
    /(#[^\n]*)/,
    /("(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')/,
    /([{};])/,
    /((?:\\[\s\S]|\$\{[^}\n]*\}|[^\s{};"'\\])+)/,
    /(["'\\])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

function splitTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (const [whole, newline, , , quoted, sign, word, broken] of text.matchAll(tokenPattern)) {
    if (newline) line += 1;
    if (quoted) {
      tokens.push({ text: quoted.slice(1, -1).replaceAll(/\\([\s\S])/g, '$1'), line, isQuoted: true });
      line += quoted.split('\n').length - 1;
    } else if (sign || word || broken) tokens.push({ text: whole, line, isQuoted: false });
  }
  return tokens;
}

function readBlock(tokens: readonly Token[], cursor: { at: number }, depth: number): NginxDirective[] | undefined {
  if (depth > maxDepth) return undefined;
  const directives: NginxDirective[] = [];
  while (cursor.at < tokens.length) {
    const first = tokens[cursor.at]!;
    if (isSign(first, '}')) return depth > 0 ? directives : undefined;
    const words: string[] = [];
    while (cursor.at < tokens.length && !isSign(tokens[cursor.at]!, ';') && !isSign(tokens[cursor.at]!, '{')) {
      if (isSign(tokens[cursor.at]!, '}')) return undefined;
      words.push(tokens[cursor.at]!.text);
      cursor.at += 1;
    }
    const end = tokens[cursor.at];
    if (!end || words.length === 0) return undefined;
    cursor.at += 1;
    let block: NginxDirective[] | undefined;
    if (isSign(end, '{')) {
      block = readBlock(tokens, cursor, depth + 1);
      if (!block || !tokens[cursor.at]) return undefined;
      cursor.at += 1;
    }
    directives.push({ name: words[0]!, words: words.slice(1), line: first.line, block });
  }
  return depth === 0 ? directives : undefined;
}

const isSign = ({ text, isQuoted }: Token, sign: string) => !isQuoted && text === sign;
