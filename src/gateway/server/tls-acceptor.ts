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

export interface SecuredOptions {
  /** For names nobody else answers for; both empty for none. */
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly oldest: '1.2' | '1.3';
  readonly http2: boolean;
  readonly handshakeMs: number;
  /** Told of files that changed and cannot be used. */
  readonly onFault: (error: Error) => void;
  /** Who answers for a server name; lower-case, without a final dot. */
  identity(serverName: string): ServerIdentity | undefined;
  /** Whether anybody wants to see certificates of callers. */
  asksCallers(): boolean;
}

/** Turns connections into secured ones, with the certificate of the name that is called. */
export interface Secured {
  /** For one listener: what takes its connections, and hands them on when they are secured. */
  door(onSecure: (socket: TLSSocket) => void): (socket: Socket) => void;
  /** Takes up a default certificate whose files have changed. */
  refresh(): void;
}

export function createSecured(options: SecuredOptions): Secured {
  const { certificateFile, keyFile } = options;
  if ((certificateFile === '') !== (keyFile === '')) throw problem.certificate_incomplete();
  const minVersion = options.oldest === '1.3' ? 'TLSv1.3' : 'TLSv1.2';
  const contexts = new WeakMap<ServerIdentity, SecureContext>();
  const servers = new Set<Server>();
  let stamp = stampOf(options);
  let files = filesOf(options);

  function contextOf(identity: ServerIdentity): SecureContext {
    let context = contexts.get(identity);
    if (!context) {
      context = createSecureContext({ cert: [...identity.cert], key: [...identity.key], minVersion });
      contexts.set(identity, context);
    }
    return context;
  }

  function serverOf(requestCert: boolean, onSecure: (socket: TLSSocket) => void): Server {
    const server = createServer({
      ...files,
      minVersion,
      requestCert,
      // Which certificates are let in is the business of each API, call by call.
      rejectUnauthorized: false,
      ALPNProtocols: options.http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
      handshakeTimeout: options.handshakeMs,
      allowHalfOpen: true,
      SNICallback(name, done) {
        try {
          const identity = options.identity(normalizeHostHeader(name));
          done(null, identity && contextOf(identity));
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
    door(onSecure) {
      const asking = serverOf(true, onSecure);
      const plain = serverOf(false, onSecure);
      return socket => {
        socket.on('error', () => socket.destroy());
        (options.asksCallers() ? asking : plain).emit('connection', socket);
      };
    },
    refresh() {
      const now = stampOf(options);
      if (now === stamp) return;
      stamp = now;
      try {
        files = filesOf(options);
      } catch (error) {
        // Half a change, perhaps: the certificate in service stays, and the next look finds the rest.
        options.onFault(error as Error);
        return;
      }
      for (const server of servers) server.setSecureContext({ ...files, minVersion });
    },
  };
}

interface Files {
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

function filesOf({ certificateFile, keyFile }: SecuredOptions): Files {
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
function stampOf({ certificateFile, keyFile }: SecuredOptions): string {
  if (certificateFile === '') return '';
  return [certificateFile, keyFile]
    .map(file => statSync(file, { throwIfNoEntry: false }))
    .map(found => `${found?.mtimeMs}/${found?.size}/${found?.ino}`)
    .join(' ');
}
