/** PostgreSQL bounds an index row to a third of a page. */
const maxTextBytes = 2000;

/** Folded names, one per line: no query holds a line break, so none matches across two names. */
export function toSearchText(names: readonly string[]): string {
  const lines = names.map(name => name.toLowerCase().replaceAll(/[\n\r]+/g, ' ')).filter(Boolean);
  const bytes = Buffer.from([...new Set(lines)].join('\n').toWellFormed());
  let end = Math.min(bytes.length, maxTextBytes);
  // Continuation bytes (RFC 3629, 3): a character is not cut in two.
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
