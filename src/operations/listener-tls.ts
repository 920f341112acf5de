import { constants } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import { createCertificateFiles } from '#base/certificate-files.ts';
import type { Log } from '#base/log.ts';
import { createHttpsServer } from '#base/node-https.ts';
import { problems } from '#base/problems.ts';
import { every } from '#base/repeat.ts';
import type { Settings } from '#base/settings.ts';
import { surfaces } from './surfaces.ts';

const problem = problems('management_tls', {
  incomplete: {
    status: 500,
    message: 'management.tls.certificate_file and management.tls.key_file must both be set',
  },
  unreadable: { status: 500, message: 'The TLS certificate of the management listeners cannot be used: {reason}' },
  clients_without_tls: {
    status: 500,
    message: 'gateway.control_client_ca_file: needs management.tls.certificate_file and management.tls.key_file',
  },
  clients_without_role: {
    status: 500,
    message:
      'gateway.control_client_ca_file: needs the role gateway; with the role {role}, /gw/* shares the listener of browsers',
  },
});

/** TLS of one management listener. */
export interface ListenerTls {
  /** Server factory of Fastify, which calls it once per address. */
  createServer(handler: RequestListener): Server;
  /** Closes connections without a handshake, and stops watching the files. */
  close(): void;
}

const refreshIntervalMs = 1000;
const firstByteTimeoutMs = 10_000;
const handshakeTimeoutMs = 10_000;
const refusedLingerTimeoutMs = 2000;
const keepAliveTimeoutMs = 72_000;
export const managementRequestTimeoutMs = 60_000;

export const hasManagementTls = (settings: Settings): boolean => settings['management.tls.certificate_file'] !== '';

/** Content of `listening.json`: URLs, and the certificate that commands on this machine trust for them. */
export const describeListening = (settings: Settings, urls: Readonly<Record<string, string | undefined>>) =>
  hasManagementTls(settings)
    ? { ...urls, certificate_file: resolve(settings['management.tls.certificate_file']) }
    : urls;

/** Undefined without certificate and key. `isControl` is the listener of `/gw/*` alone, which may require clients. */
export function createListenerTls(settings: Settings, isControl: boolean, log: Log): ListenerTls | undefined {
  if (!hasManagementTls(settings)) return undefined;
  const clientCaFile = isControl ? settings['gateway.control_client_ca_file'] : '';
  const files = createCertificateFiles({
    certificateFile: settings['management.tls.certificate_file'],
    keyFile: settings['management.tls.key_file'],
    clientCaFile,
    toProblem: reason => problem.unreadable({ detail: { reason } }),
    onReloadError: error => log.error({ reason: error.message }, 'management TLS certificate not reloaded'),
  });
  const requiresClients = clientCaFile !== '';
  const buildContext = () => ({
    ...files.current(),
    minVersion: settings['management.tls.min_version'] === '1.3' ? ('TLSv1.3' as const) : ('TLSv1.2' as const),
    // A resumed session would keep a client certificate whose authority has been removed.
    ...(requiresClients ? { secureOptions: constants.SSL_OP_NO_TICKET } : {}),
  });
  const servers: Server[] = [];
  const undecided = new Set<Socket>();
  let used = files.current();
  const refresh = () => {
    files.refresh();
    if (files.current() === used) return;
    used = files.current();
    for (const server of servers) server.setSecureContext(buildContext());
    log.info({}, 'management TLS certificate reloaded');
  };
  const watch = every(refreshIntervalMs, refresh, {
    onError: error => log.error({ reason: error.message }, 'management TLS certificate not reloaded'),
    unref: true,
  });
  return {
    createServer(handler) {
      const clients = { requestCert: requiresClients, rejectUnauthorized: requiresClients };
      const server = createHttpsServer(
        { ...buildContext(), ...clients, handshakeTimeout: handshakeTimeoutMs },
        handler,
      );
      server.keepAliveTimeout = keepAliveTimeoutMs;
      server.requestTimeout = managementRequestTimeoutMs;
      refuseClearText(server, undecided);
      servers.push(server);
      return server;
    },
    close() {
      watch.stop();
      for (const socket of undecided) socket.destroy();
    },
  };
}

/** Cross-setting validation. A setting without effect is rejected. */
export function validateTlsSettings(settings: Settings): void {
  const hasTls = hasManagementTls(settings);
  if (hasTls !== (settings['management.tls.key_file'] !== '')) throw problem.incomplete();
  if (settings['gateway.control_client_ca_file'] === '') return;
  if (!hasTls) throw problem.clients_without_tls();
  if (settings.role !== 'gateway') throw problem.clients_without_role({ detail: { role: settings.role } });
}

/**
 * Protocol detection by the first byte: a TLS record of a handshake begins with 22 (RFC 8446, 5.1), a request in clear
 * text with a letter and gets a 400 that names the mistake.
 */
function refuseClearText(server: Server, undecided: Set<Socket>): void {
  const accept = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    undecided.add(socket);
    const destroy = () => socket.destroy();
    const onReadable = () => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      socket.off('readable', onReadable).off('end', destroy).off('timeout', destroy).off('error', destroy);
      socket.setTimeout(0);
      undecided.delete(socket);
      if (isLetter(chunk[0]!)) return sendHttpsRequired(socket);
      socket.unshift(chunk);
      for (const listener of accept) listener.call(server, socket);
    };
    socket.once('close', () => undecided.delete(socket));
    socket.on('readable', onReadable).once('end', destroy).once('error', destroy);
    socket.setTimeout(firstByteTimeoutMs, destroy);
  });
}

const isLetter = (byte: number) => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

const httpsRequired = JSON.stringify(surfaces.dashboard.render('This port requires HTTPS'));

/** Reads on for a while: a close with unread bytes resets the connection, and the client loses the response. */
function sendHttpsRequired(socket: Socket): void {
  socket.on('error', () => socket.destroy()).resume();
  socket.setTimeout(refusedLingerTimeoutMs, () => socket.destroy());
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(httpsRequired)}\r\n` +
      `Connection: close\r\n\r\n${httpsRequired}`,
  );
}
