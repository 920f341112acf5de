import type { Socket } from 'node:net';
import { createSecureContext, createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls';
import { type CertificateFiles, createCertificateFiles } from '#base/certificate-files.ts';
import { problems } from '#base/problems.ts';
import { normalizeHostHeader } from '../http/request-head.ts';

export const problem = problems('tls', {
  certificate_incomplete: {
    status: 500,
    message: 'gateway.tls.certificate_file and gateway.tls.key_file must both be set',
  },
  unreadable: { status: 500, message: 'The TLS certificate of the gateway cannot be used: {reason}' },
});

/** The certificates and keys of one server name, as PEM. */
export interface ServerIdentity {
  readonly cert: readonly string[];
  readonly key: readonly string[];
}

export interface TlsAcceptorOptions {
  /** Default certificate, for names without their own; both empty for none. */
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly minVersion: '1.2' | '1.3';
  readonly http2: boolean;
  readonly handshakeTimeoutMs: number;
  /** Receives the error of changed files that cannot be used. */
  readonly onReloadError: (error: Error) => void;
  /** Changed files are in use. */
  readonly onReload?: () => void;
  /** Certificate for an SNI name; lower-case, without a trailing dot. */
  identity(serverName: string): ServerIdentity | undefined;
  /** Some API uses client certificates. */
  requestsClientCertificates(): boolean;
}

/** TLS termination with the certificate of the SNI name. */
export interface TlsAcceptor {
  /** Creates the accept function of one listener; `onSecure` receives sockets after the handshake. */
  createAcceptor(onSecure: (socket: TLSSocket) => void): (socket: Socket) => void;
  /** Reloads the default certificate when its files have changed; listeners use it from their next connection on. */
  refresh(): void;
  /** The default certificate; undefined without one. */
  describe: CertificateFiles['describe'];
}

export function createTlsAcceptor(options: TlsAcceptorOptions): TlsAcceptor {
  if ((options.certificateFile === '') !== (options.keyFile === '')) throw problem.certificate_incomplete();
  const minVersion = options.minVersion === '1.3' ? 'TLSv1.3' : 'TLSv1.2';
  const contexts = new WeakMap<ServerIdentity, SecureContext>();
  const files = createCertificateFiles({
    ...options,
    toProblem: reason => problem.unreadable({ detail: { reason } }),
  });

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
      ...files.current(),
      minVersion,
      requestCert,
      // Each API verifies client certificates per request.
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
    return server;
  }

  return {
    createAcceptor(onSecure) {
      const requestingServer = createTlsServer(true, onSecure);
      const plainServer = createTlsServer(false, onSecure);
      let current = files.current();
      return socket => {
        if (current !== files.current()) {
          current = files.current();
          for (const server of [requestingServer, plainServer]) server.setSecureContext({ ...current, minVersion });
        }
        socket.on('error', () => socket.destroy());
        (options.requestsClientCertificates() ? requestingServer : plainServer).emit('connection', socket);
      };
    },
    refresh: files.refresh,
    describe: files.describe,
  };
}
