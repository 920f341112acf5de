/** A part of `multipart/form-data` (RFC 7578). */
export interface FormPart {
  readonly name: string;
  readonly type: string;
  readonly isFile: boolean;
  readonly bytes: Buffer;
}

const maxParts = 1000;
const maxPartHeadBytes = 8192;

/**
 * Parses a multipart body; undefined where it is malformed or has too many parts. Strict: a body that another parser could
 * split differently is malformed.
 */
export function parseMultipart(bytes: Buffer, contentType: string): FormPart[] | undefined {
  const [boundary, another] = contentType.matchAll(/;\s?boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/gi);
  if (!boundary || another) return undefined;
  const delimiter = Buffer.from(`\r\n--${boundary[1] ?? boundary[2]}`);
  const opening = delimiter.subarray(2);
  if (!bytes.subarray(0, opening.length).equals(opening)) return undefined;
  const parts: FormPart[] = [];
  let at = opening.length;
  while (bytes.toString('latin1', at, at + 2) !== '--') {
    const next = bytes.indexOf(delimiter, at);
    const begins = bytes.toString('latin1', at, at + 2) === '\r\n';
    const part = begins && next >= at + 2 ? parsePart(bytes.subarray(at + 2, next)) : undefined;
    if (!part || parts.length >= maxParts) return undefined;
    parts.push(part);
    at = next + delimiter.length;
  }
  return parts;
}

function parsePart(bytes: Buffer): FormPart | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0 || end > maxPartHeadBytes) return undefined;
  const head = `\r\n${bytes.toString('utf8', 0, end)}`;
  const [disposition = '', another] = head.split(/\r\ncontent-disposition:/i).slice(1);
  const line = disposition.split('\r\n', 1)[0]!;
  const names = [...line.matchAll(/;\s?name\*?=(?:"([^"]*)"|([^\s;"]+))/gi)];
  if (another !== undefined || names.length !== 1 || names[0]![0].includes('*=')) return undefined;
  const type = /\r\ncontent-type:\s?([^\s;]+)/i.exec(head)?.[1]?.toLowerCase() ?? '';
  const name = names[0]![1] ?? names[0]![2]!;
  return { name, type, isFile: /;\s?filename\*?=/i.test(line), bytes: bytes.subarray(end + 4) };
}
