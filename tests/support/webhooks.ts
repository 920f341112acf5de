import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { eventually, type Received, startUpstream, type Upstream } from './upstream.ts';

/** A server that takes webhook calls. Each test has paths of its own. */
export interface Receiver extends Upstream {
  /** What arrived at a path so far. */
  at(path: string): Received[];
  /** Waits for so many calls of a path, and no more than that. */
  take(path: string, count?: number): Promise<Received[]>;
}

export async function startReceiver(): Promise<Receiver> {
  const upstream = await startUpstream();
  const at = (path: string) => upstream.requests.filter(({ url }) => url === path);
  return Object.assign(upstream, {
    at,
    take: (path: string, count = 1) =>
      eventually(() => {
        const found = at(path);
        assert.equal(found.length, count, `${path} was called ${found.length} times`);
        return found;
      }),
  });
}

/** As a receiver checks it: the newest secret signs the time and the body. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const [time, ...hashes] = String(headers['x-gw-signature']).split(',');
  const hash = createHmac('sha256', secret)
    .update(`${time!.slice(2)}.${body}`)
    .digest('hex');
  return hashes.includes(`v1=${hash}`);
}

/** A classic webhook handler. */
export const webhook = (target_path: string, more: object = {}) => ({
  handler_name: 'eh_web_hook_handler',
  handler_meta: { method: 'POST', target_path, event_timeout: 0, ...more },
});

/** Member of a classic definition with these handlers of an event. */
export const handling = (event: string, ...handlers: object[]) => ({
  event_handlers: { events: { [event]: handlers } },
});
