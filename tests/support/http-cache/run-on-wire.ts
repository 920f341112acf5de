import type { IncomingHttpHeaders } from 'node:http';
import { createPublicId } from '#base/ids.ts';
import { sendRequest } from '../cache-fixtures.ts';
import type { Upstream } from '../upstream.ts';
import { checkStep, type HttpCase, type Observed, type Reply, replyTo } from './case.ts';

/** An upstream that responds to each case, by the first segment of the path, as the case states. */
export function serveHttpCases(upstream: Upstream) {
  const states = new Map<string, { reply: Reply; requests: number; sent: Observed['sent'] }>();
  const plain = upstream.answer;
  upstream.answer = (request, response, body) => {
    const state = states.get(request.url!.split('/')[1] ?? '');
    if (!state) return plain?.(request, response, body);
    state.requests++;
    state.sent = flatten(request.headers);
    if (state.reply.fails) return void response.destroy();
    const { status, headers, body: text } = replyTo(state.reply, state.sent, `body ${state.requests}`);
    for (const [name, value] of headers) response.appendHeader(name, value);
    response.writeHead(status);
    response.end(text);
  };
  return states;
}

const flatten = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));

/** Sends the requests of a case, each on a connection of its own, so that they reach several threads. */
export async function runOnWire(
  given: HttpCase,
  url: string,
  states: ReturnType<typeof serveHttpCases>,
  settle: () => Promise<void> = async () => undefined,
): Promise<void> {
  const id = createPublicId();
  const state = { reply: given.reply ?? {}, requests: 0, sent: {} };
  states.set(id, state);
  for (const step of given.steps) {
    const [, , more = {}] = step;
    if (more.reply) state.reply = more.reply;
    const before = state.requests;
    const { method = 'GET', headers = {}, path = '/a' } = more;
    const received = await sendRequest(`${url}/${id}${path}`, { method, headers: { connection: 'close', ...headers } });
    // A connection that fails is tried once more.
    const requests = Math.min(1, state.requests - before);
    const observed = {
      status: received.status,
      headers: flatten(received.headers),
      body: String(received.body),
      requests,
    };
    checkStep(given.title, step, { ...observed, sent: state.sent });
    await settle();
  }
  states.delete(id);
}
