import { StringDecoder } from 'node:string_decoder';

/** An event of a `text/event-stream` (HTML, section 9.2). */
export interface ServerSentEvent {
  /** Empty without a name. */
  readonly name: string;
  readonly data: string;
}

/** Reads the events of a stream as they arrive. Throws `RangeError` at an event that is longer than the bound. */
export async function* readServerSentEvents(
  stream: AsyncIterable<Buffer>,
  maxEventLength: number,
): AsyncGenerator<ServerSentEvent, void> {
  const decoder = new StringDecoder('utf8');
  const parser = createEventParser(maxEventLength);
  for await (const chunk of stream) yield* parser(decoder.write(chunk));
}

/** Parses text chunk by chunk; an event is complete at an empty line. */
export function createEventParser(maxEventLength: number): (text: string) => ServerSentEvent[] {
  let rest = '';
  let endedWithReturn = false;
  let name = '';
  let data: string[] = [];
  let length = 0;

  function takeLine(line: string, events: ServerSentEvent[]): void {
    if (line === '') {
      if (data.length > 0 || name !== '') events.push({ name, data: data.join('\n') });
      name = '';
      data = [];
      length = 0;
      return;
    }
    length += line.length;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') name = value;
    if (field === 'data') data.push(value);
  }

  return text => {
    const events: ServerSentEvent[] = [];
    // CRLF in two chunks: its CR has ended the line.
    const lines = (endedWithReturn && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\n|\r/);
    if (text !== '') endedWithReturn = text.endsWith('\r');
    lines[0] = rest + lines[0]!;
    rest = lines.pop()!;
    for (const line of lines) takeLine(line, events);
    if (rest.length + length > maxEventLength) throw new RangeError('the event is too long');
    return events;
  };
}
