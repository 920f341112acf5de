import { type ConnectionOptions, connect } from 'node:tls';

const probeTimeoutMs = 5000;

/**
 * How a server ends a connection right after the handshake: `TLS alert CERTIFICATE_REQUIRED`, or `connection closed`
 * without an alert; undefined where it does not. With TLS 1.3 a server rejects a client after the handshake of the client
 * is complete, and the HTTP client reports a closed connection. Nothing is sent, so that the server need not be trusted.
 */
export function findTlsRejection(url: string, options: ConnectionOptions): Promise<string | undefined> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:') return Promise.resolve(undefined);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise(resolve => {
    const socket = connect({ ...options, host, port: Number(port || 443), rejectUnauthorized: false });
    let rejection: string | undefined;
    let isConnected = false;
    socket.setTimeout(probeTimeoutMs, () => {
      isConnected = false;
      socket.destroy();
    });
    socket.on('secureConnect', () => {
      isConnected = true;
    });
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      const alert = /_ALERT_(\w+)$/.exec(code)?.[1];
      if (alert) rejection = `TLS alert ${alert}`;
    });
    socket.on('close', () => resolve(rejection ?? (isConnected ? 'connection closed' : undefined)));
    socket.resume();
  });
}
