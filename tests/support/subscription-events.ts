/** Server-sent events of a GraphQL subscription, as a client reads them. */
export interface EventStream {
  /** The next result; `complete` for the end of the subscription. */
  next(): Promise<unknown>;
  /** All results up to the end. */
  rest(): Promise<unknown[]>;
  close(): Promise<void>;
}

export async function openEventStream(url: string, query: string, authorization = ''): Promise<EventStream> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      ...(authorization !== '' && { authorization }),
    },
    body: JSON.stringify({ query }),
  });
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  async function next(): Promise<unknown> {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const [, name, data = ''] = /^event: (\w+)\ndata: (.*)$/s.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (name === 'next') return JSON.parse(data);
        if (name === 'complete') return 'complete';
        continue;
      }
      const { done, value } = await reader.read();
      if (done) throw new Error(`the stream ended without an event: ${text}`);
      text += decoder.decode(value, { stream: true });
    }
  }
  return {
    next,
    async rest() {
      const events: unknown[] = [];
      while (events.at(-1) !== 'complete') events.push(await next());
      return events;
    },
    close: () => reader.cancel(),
  };
}
