/** Server-sent event (HTML, 9.2) as a client receives it. */
export interface ReceivedEvent {
  readonly name: string;
  readonly id: string;
  readonly data: string;
}

/** Text of one event; longer ones end the stream. */
const maxEventLength = 10_000_000;

/** Events of a stream, until it ends or breaks. */
export async function* parseServerEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ReceivedEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const event = parseEvent(text.slice(0, end));
        text = text.slice(end + 2);
        if (event) yield event;
        continue;
      }
      const { done, value } = await readOrEnd(reader);
      if (done || text.length > maxEventLength) return;
      text += value;
    }
  } finally {
    // The stream may be broken already.
    await reader.cancel().catch(() => undefined);
  }
}

/** A broken connection ends a stream as its regular end does: the client connects again. */
async function readOrEnd(reader: ReadableStreamDefaultReader<string>) {
  try {
    return await reader.read();
  } catch {
    return { done: true, value: undefined } as const;
  }
}

function parseEvent(block: string): ReceivedEvent | undefined {
  const fields = new Map(
    block.split('\n').flatMap(line => {
      const colon = line.indexOf(': ');
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 2)] as const] : [];
    }),
  );
  const name = fields.get('event');
  return name === undefined ? undefined : { name, id: fields.get('id') ?? '', data: fields.get('data') ?? '' };
}
