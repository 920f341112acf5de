/**
 * Blanks out comments, strings, template text and regular expressions of TypeScript source, so that what is left can be
 * searched for operators. Every character keeps its place; line breaks stay.
 */
export function maskSource(source: string): string {
  const masked = [...source];
  /** Depths of braces at which a template literal goes on. */
  const templates: number[] = [];
  let depth = 0;
  let at = 0;

  const blank = (from: number, to: number) => {
    for (let index = from; index < to; index++) if (masked[index] !== '\n') masked[index] = ' ';
  };
  const skipTo = (end: number) => {
    blank(at, end);
    at = end;
  };

  while (at < source.length) {
    const two = source.slice(at, at + 2);
    const character = source[at]!;
    if (two === '//') skipTo(endOr(source, source.indexOf('\n', at)));
    else if (two === '/*') skipTo(endOr(source, source.indexOf('*/', at + 2), 2));
    else if (character === "'" || character === '"') skipTo(endOfQuoted(source, at));
    else if (character === '`') skipTo(endOfTemplate(source, at + 1, () => templates.push(depth++)));
    else if (character === '/' && startsRegExp(masked, at)) skipTo(endOfRegExp(source, at));
    else if (character === '}' && templates.at(-1) === depth - 1) {
      depth = templates.pop()!;
      skipTo(endOfTemplate(source, at + 1, () => templates.push(depth++)));
    } else {
      if (character === '{') depth++;
      if (character === '}') depth--;
      at++;
    }
  }
  return masked.join('');
}

const endOr = (source: string, found: number, length = 0) => (found < 0 ? source.length : found + length);

function endOfQuoted(source: string, start: number): number {
  for (let at = start + 1; at < source.length; at++) {
    if (source[at] === '\\') at++;
    else if (source[at] === source[start]) return at + 1;
  }
  return source.length;
}

/** The end of a piece of template text: behind the closing backtick, or behind `${`. */
function endOfTemplate(source: string, start: number, onExpression: () => void): number {
  for (let at = start; at < source.length; at++) {
    if (source[at] === '\\') at++;
    else if (source[at] === '`') return at + 1;
    else if (source.startsWith('${', at)) {
      onExpression();
      return at + 2;
    }
  }
  return source.length;
}

function endOfRegExp(source: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < source.length; at++) {
    const character = source[at];
    if (character === '\\') at++;
    else if (character === '[') inClass = true;
    else if (character === ']') inClass = false;
    else if (character === '/' && !inClass) return at + 1 + /^[a-z]*/.exec(source.slice(at + 1))![0].length;
  }
  return source.length;
}

/** A slash divides behind a value, and begins a regular expression elsewhere. */
function startsRegExp(masked: readonly string[], at: number): boolean {
  let before = at - 1;
  while (before >= 0 && /\s/.test(masked[before]!)) before--;
  if (before < 0) return true;
  const tail = masked.slice(Math.max(0, before - 10), before + 1).join('');
  return /[(,=:[!&|?{};+\-*%<>~^]$/.test(tail) || /\b(return|typeof|case|in|of|await)$/.test(tail);
}
