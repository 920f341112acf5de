import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import { every } from '#base/repeat.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor } from './actor.ts';
import { problem } from './problems.ts';

export const eventStreamType = 'text/event-stream';
/** Response of an operation that produces `eventStreamType`. */
export const eventStream = z.custom<Readable>(value => value instanceof Readable);

/** A server-sent event (HTML, 9.2). */
export interface ServerEvent {
  readonly name: string;
  /** Sent back by the client as `Last-Event-ID` when it reconnects. */
  readonly id?: string | undefined;
  readonly data: unknown;
}

export interface EventSourceOptions {
  readonly actor: Actor;
  /** Authenticates the request of the stream again; rejects where its credential or permission has been withdrawn. */
  readonly reauthenticate: () => Promise<Actor>;
  /** New events for the caller as last authenticated; called at every interval while the client reads. */
  readonly poll: (actor: Actor) => Promise<readonly ServerEvent[]>;
  readonly lifetimeSeconds: number;
}

/** A stream ends after this time, and the client reconnects. */
export const maxStreamSeconds = 300;
const pollIntervalMs = 1000;
/** Bound of the time for which a stream uses withdrawn rights. */
export const reauthenticationIntervalMs = 10_000;
/** A client that does not read for this time is disconnected. */
const readTimeoutMs = 30_000;
const maxStreamsPerUser = 10;
/** One organisation leaves room for others in the process. */
const maxStreamsPerOrganisation = 50;
const bufferBytes = 65_536;

export type EventStreams = ReturnType<typeof createEventStreams>;

/** Server-sent events of operations, by polling: bounded streams of the process, of an organisation and of a user. */
export function createEventStreams(options: { readonly settings: Settings; readonly clock: Clock; readonly log: Log }) {
  const open = new Map<Readable, Actor>();
  const maxStreams = options.settings['management.max_event_streams'];

  function checkRoom({ id, orgId }: Actor): void {
    const ofOrganisation = [...open.values()].filter(it => it.orgId === orgId);
    const ofUser = ofOrganisation.filter(it => it.id === id);
    for (const [scope, count, max] of [
      ['user', ofUser.length, maxStreamsPerUser],
      ['organisation', ofOrganisation.length, maxStreamsPerOrganisation],
      ['process', open.size, maxStreams],
    ] as const)
      if (count >= max) throw problem.too_many_streams({ detail: { scope, max } });
  }

  return {
    open(source: EventSourceOptions): Readable {
      checkRoom(source.actor);
      const stream = startStream(options, source);
      open.set(stream, source.actor);
      stream.once('close', () => open.delete(stream));
      return stream;
    },
    /** Ends all streams, so that the listener can close. */
    close(): void {
      for (const stream of open.keys()) stream.destroy();
    },
  };
}

function startStream({ clock, log }: { clock: Clock; log: Log }, source: EventSourceOptions) {
  const endsAt = clock.now() + source.lifetimeSeconds * 1000;
  let { actor } = source;
  let authenticatedAt = clock.now();
  let isReading = true;
  let readAt = clock.now();
  const stream = new Readable({
    highWaterMark: bufferBytes,
    read() {
      isReading = true;
      readAt = clock.now();
    },
    destroy(error, done) {
      loop.stop();
      done(error);
    },
  });

  async function poll(): Promise<readonly ServerEvent[]> {
    if (clock.now() - authenticatedAt >= reauthenticationIntervalMs) {
      actor = await source.reauthenticate();
      authenticatedAt = clock.now();
    }
    return source.poll(actor);
  }

  async function run(): Promise<void> {
    if (stream.destroyed) return;
    if (clock.now() >= endsAt) {
      loop.stop();
      stream.push(null);
    } else if (isReading) {
      const events = await poll();
      if (stream.destroyed) return;
      isReading = stream.push(events.length > 0 ? events.map(formatEvent).join('') : keepAlive);
    } else if (clock.now() - readAt >= readTimeoutMs) stream.destroy();
  }

  const onError = (error: Error) => {
    loop.stop();
    if (!(error instanceof Problem)) log.error({ err: error }, 'event stream failed, closing');
    const message = error instanceof Problem ? error.message : 'Internal error';
    if (!stream.destroyed) stream.push(formatEvent({ name: 'error', data: { message } }));
    if (!stream.destroyed) stream.push(null);
  };
  const loop = every(pollIntervalMs, run, { onError, unref: true });
  // The head of the response is sent with the first bytes: the client sees at once that the stream is open.
  stream.push(keepAlive);
  return stream;
}

/** A comment keeps proxies from closing an idle connection. */
const keepAlive = ':\n\n';

/** JSON has no line breaks outside of escapes, so that one `data` line holds it. */
const formatEvent = ({ name, id, data }: ServerEvent) =>
  `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
