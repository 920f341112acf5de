import { readFileSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createSecureContext, createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls';
import { problems } from '#base/problems.ts';
import { normalizeHostHeader } from '../http/request-head.ts';

export const problem = problems('tls', {
  certificate_incomplete: {
    status: 500,
    message: 'gateway.tls.certificate_file and gateway.tls.key_file go together: one of them is not set',
  },
  unreadable: { status: 500, message: 'The certificate of the gateway cannot be used: {reason}' },
});

/** The certificates and keys of one server name, as PEM. */
export interface ServerIdentity {
  readonly cert: readonly string[];
  readonly key: readonly string[];
}

export interface TlsAcceptorOptions {
  /** For names nobody else answers for; both empty for none. */
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly minVersion: '1.2' | '1.3';
  readonly http2: boolean;
  readonly handshakeTimeoutMs: number;
  /** Told of files that changed and cannot be used. */
  readonly onReloadError: (error: Error) => void;
  /** Who answers for a server name; lower-case, without a final dot. */
  identity(serverName: string): ServerIdentity | undefined;
  /** Whether anybody wants to see certificates of callers. */
  requestsClientCertificates(): boolean;
}

/** Turns connections into secured ones, with the certificate of the name that is called. */
export interface TlsAcceptor {
  /** For one listener: what takes its connections, and hands them on when they are secured. */
  createAcceptor(onSecure: (socket: TLSSocket) => void): (socket: Socket) => void;
  /** Takes up a default certificate whose files have changed. */
  refresh(): void;
}

export function createTlsAcceptor(options: TlsAcceptorOptions): TlsAcceptor {
  const { certificateFile, keyFile } = options;
  if ((certificateFile === '') !== (keyFile === '')) throw problem.certificate_incomplete();
  const minVersion = options.minVersion === '1.3' ? 'TLSv1.3' : 'TLSv1.2';
  const contexts = new WeakMap<ServerIdentity, SecureContext>();
  const servers = new Set<Server>();
  let fileStamp = readFileStamp(options);
  let files = readFiles(options);

  function getContext(identity: ServerIdentity): SecureContext {
    let context = contexts.get(identity);
    if (!context) {
      context = createSecureContext({ cert: [...identity.cert], key: [...identity.key], minVersion });
      contexts.set(identity, context);
    }
    return context;
  }

  function createTlsServer(requestCert: boolean, onSecure: (socket: TLSSocket) => void): Server {
    const server = createServer({
      ...files,
      minVersion,
      requestCert,
      // Which certificates are let in is the business of each API, call by call.
      rejectUnauthorized: false,
      ALPNProtocols: options.http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
      handshakeTimeout: options.handshakeTimeoutMs,
      allowHalfOpen: true,
      SNICallback(name, done) {
        try {
          const identity = options.identity(normalizeHostHeader(name));
          done(null, identity && getContext(identity));
        } catch (error) {
          done(error as Error);
        }
      },
    });
    server.on('secureConnection', onSecure);
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    servers.add(server);
    return server;
  }

  return {
    createAcceptor(onSecure) {
      const requestingServer = createTlsServer(true, onSecure);
      const plainServer = createTlsServer(false, onSecure);
      return socket => {
        socket.on('error', () => socket.destroy());
        (options.requestsClientCertificates() ? requestingServer : plainServer).emit('connection', socket);
      };
    },
    refresh() {
      const now = readFileStamp(options);
      if (now === fileStamp) return;
      fileStamp = now;
      try {
        files = readFiles(options);
      } catch (error) {
        // Half a change, perhaps: the certificate in service stays, and the next look finds the rest.
        options.onReloadError(error as Error);
        return;
      }
      for (const server of servers) server.setSecureContext({ ...files, minVersion });
    },
  };
}

interface CertificateFiles {
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

function readFiles({ certificateFile, keyFile }: TlsAcceptorOptions): CertificateFiles {
  if (certificateFile === '') return {};
  try {
    const files = { cert: readFileSync(certificateFile), key: readFileSync(keyFile) };
    // A pair that does not fit is better found here than by the next caller.
    createSecureContext(files);
    return files;
  } catch (error) {
    throw problem.unreadable({ detail: { reason: (error as Error).message } });
  }
}

/** Changes when one of the files does. */
function readFileStamp({ certificateFile, keyFile }: TlsAcceptorOptions): string {
  if (certificateFile === '') return '';
  return [certificateFile, keyFile]
    .map(file => statSync(file, { throwIfNoEntry: false }))
    .map(found => `${found?.mtimeMs}/${found?.size}/${found?.ino}`)
    .join(' ');
}
