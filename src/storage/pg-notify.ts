import pg from 'pg';
import { noticeChannel } from './notify-channel.ts';

export interface NoticesOptions {
  readonly url: string;
  /** Something changed, or may have while nobody listened. */
  onChange(): void;
  onLost(error: Error): void;
}

/** A connection that is lost is not made anew faster than this. */
const pauseMs = 1000;
const connectTimeoutMs = 5000;

/** Hears of changes other processes commit. It is for speed alone: whoever depends on them also looks by itself. */
export function hearChanges({ url, onChange, onLost }: NoticesOptions) {
  let client: pg.Client | undefined;
  let pause: NodeJS.Timeout | undefined;
  let closed = false;

  function listen(): void {
    const own = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      application_name: 'gatewright notices',
    });
    client = own;
    own.on('notification', onChange);
    own.on('end', () => again(own));
    own.on('error', error => {
      onLost(error);
      again(own);
    });
    own
      .connect()
      .then(() => own.query(`listen ${noticeChannel}`))
      .then(onChange)
      .catch(error => {
        onLost(error);
        again(own);
      });
  }

  /** A connection says in several ways that it is lost; the first counts. */
  function again(own: pg.Client): void {
    if (closed || client !== own) return;
    client = undefined;
    own.end().catch(() => undefined);
    pause = setTimeout(listen, pauseMs);
  }

  listen();
  return {
    async close(): Promise<void> {
      closed = true;
      clearTimeout(pause);
      await client?.end().catch(() => undefined);
    },
  };
}
