/**
 * Whether an object anywhere in a JSON text has two members of one name. Readers differ in which of the two they take, so
 * what one of them checked is not what another one uses. The text must be JSON.
 */
export function repeatsName(text: string): boolean {
  /** The names met in each object that is still open; nothing for a list. */
  const open: (Set<string> | undefined)[] = [];
  let expectsName = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '{') {
      open.push(new Set());
      expectsName = true;
    } else if (character === '[') {
      open.push(undefined);
      expectsName = false;
    } else if (character === '}' || character === ']') open.pop();
    else if (character === ',') expectsName = open.at(-1) !== undefined;
    else if (character === '"') {
      const end = endOfText(text, at);
      const names = open.at(-1);
      if (expectsName && names) {
        const name = JSON.parse(text.slice(at, end + 1)) as string;
        if (names.has(name)) return true;
        names.add(name);
        expectsName = false;
      }
      at = end;
    }
  }
  return false;
}

function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
