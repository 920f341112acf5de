import pg from 'pg';
import { notifyChannel } from './notify-channel.ts';

export interface ChangeListenerOptions {
  readonly url: string;
  /** Something changed, or may have while nobody listened. */
  onChange(): void;
  onLost(error: Error): void;
}

/** A connection that is lost is not made anew faster than this. */
const reconnectDelayMs = 1000;
const connectTimeoutMs = 5000;

/** Hears of changes other processes commit. It is for speed alone: whoever depends on them also looks by itself. */
export function listenForChanges({ url, onChange, onLost }: ChangeListenerOptions) {
  let client: pg.Client | undefined;
  let reconnectTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function listen(): void {
    const connection = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      application_name: 'gatewright notices',
    });
    client = connection;
    connection.on('notification', onChange);
    connection.on('end', () => reconnect(connection));
    connection.on('error', error => {
      onLost(error);
      reconnect(connection);
    });
    connection
      .connect()
      .then(() => connection.query(`listen ${notifyChannel}`))
      .then(onChange)
      .catch(error => {
        onLost(error);
        reconnect(connection);
      });
  }

  /** A connection says in several ways that it is lost; the first counts. */
  function reconnect(connection: pg.Client): void {
    if (isClosed || client !== connection) return;
    client = undefined;
    connection.end().catch(() => undefined);
    reconnectTimer = setTimeout(listen, reconnectDelayMs);
  }

  listen();
  return {
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(reconnectTimer);
      await client?.end().catch(() => undefined);
    },
  };
}
