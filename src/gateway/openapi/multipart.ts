/** One part of a form. */
export interface Part {
  readonly name: string;
  readonly type: string;
  readonly isFile: boolean;
  readonly bytes: Buffer;
}

const mostParts = 1000;
const mostHeadBytes = 8192;

/** The parts of a whole multipart body; undefined where it is none, or has too many. */
export function partsOf(bytes: Buffer, contentType: string): Part[] | undefined {
  const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  if (!boundary) return undefined;
  const mark = Buffer.from(`\r\n--${boundary[1] ?? boundary[2]}`);
  const first = bytes.indexOf(mark.subarray(2));
  if (first !== 0 && bytes.indexOf(mark) !== first - 2) return undefined;
  const parts: Part[] = [];
  let at = first + mark.length - 2;
  while (bytes.toString('latin1', at, at + 2) !== '--') {
    const headStart = bytes.indexOf('\r\n', at) + 2;
    const next = bytes.indexOf(mark, headStart - 2);
    if (first < 0 || headStart < 2 || next < 0 || parts.length >= mostParts) return undefined;
    const part = partOf(bytes.subarray(headStart, Math.max(next, headStart)));
    if (!part) return undefined;
    parts.push(part);
    at = next + mark.length;
  }
  return parts;
}

function partOf(bytes: Buffer): Part | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0 || end > mostHeadBytes) return undefined;
  const head = bytes.toString('utf8', 0, end);
  const disposition = /^content-disposition:\s*form-data\b(.*)$/im.exec(head)?.[1] ?? '';
  const name = /;\s*name="([^"]*)"/i.exec(disposition)?.[1] ?? /;\s*name=([^\s;"]+)/i.exec(disposition)?.[1];
  if (name === undefined) return undefined;
  const type = /^content-type:\s*([^\s;]+)/im.exec(head)?.[1]?.toLowerCase() ?? '';
  return { name, type, isFile: /;\s*filename\*?=/i.test(disposition), bytes: bytes.subarray(end + 4) };
}
