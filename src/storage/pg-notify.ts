import pg from 'pg';
import { notifyChannel } from './notify-channel.ts';

export interface ChangeListenerOptions {
  readonly url: string;
  /** Called on each notification, and on every (re)connect, since changes may have been missed. */
  onChange(): void;
  onLost(error: Error): void;
}

/** Pause before a lost connection is reopened. */
const reconnectDelayMs = 1000;
const connectTimeoutMs = 5000;

/** LISTEN for changes that other processes commit. Only for latency: consumers also poll. */
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

  /** pg reports a lost connection through several events; only the first one counts. */
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
