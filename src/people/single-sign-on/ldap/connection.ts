import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type AddressPolicy, createGuardedLookup, refuseHost } from '#base/address-policy.ts';
import { ProviderFailure } from '../problems.ts';
import { createMessageReader, toFailure } from './message-reader.ts';
import { decodeResult, encodeStartTls, ldapTags, resultCodes } from './messages.ts';
import { createLdapRequests, ldapTimeoutMs } from './requests.ts';

export interface LdapServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the start, by StartTLS (RFC 4511, section 4.14), or none: for loopback only. */
  readonly security: 'tls' | 'starttls' | 'none';
  /** Certificates of authorities, PEM; empty for those of the system. */
  readonly ca: string;
  /** Networks of the organisation. */
  readonly policy: AddressPolicy;
}

export type LdapConnection = Awaited<ReturnType<typeof openLdap>>;

/** Opens a connection to a directory, guarded and bounded like other outbound requests. */
export async function openLdap(server: LdapServer) {
  const refused = refuseHost(server.policy, server.host, server.port);
  if (refused) throw new ProviderFailure(refused.message);
  let socket: Socket | undefined;
  const timer = setTimeout(() => socket?.destroy(new ProviderFailure('directory timed out')), ldapTimeoutMs);
  const close = () => {
    clearTimeout(timer);
    socket?.destroy();
  };
  try {
    const tcp = connectTcp({
      host: server.host,
      port: server.port,
      lookup: createGuardedLookup(server.policy, server.port),
    });
    socket = tcp;
    await awaitEvent(tcp, 'connect');
    if (server.security === 'starttls') await startTls(tcp);
    if (server.security !== 'none') socket = await secure(tcp, server);
    return createLdapRequests(socket, close);
  } catch (error) {
    close();
    throw toFailure(error as Error);
  }
}

/** Rejects with the error of the socket, also one that ends without. */
async function awaitEvent(socket: Socket, event: string): Promise<void> {
  const closed = new AbortController();
  const onClose = () => closed.abort(new ProviderFailure('directory closed the connection'));
  socket.once('close', onClose);
  try {
    await once(socket, event, { signal: closed.signal });
  } catch (error) {
    throw closed.signal.aborted && !(error instanceof ProviderFailure) ? closed.signal.reason : error;
  } finally {
    socket.off('close', onClose);
  }
}

async function secure(socket: Socket, { host, ca }: LdapServer): Promise<Socket> {
  const name = host.replace(/^\[|\]$/g, '');
  const secured = connectTls({ socket, host: name, ...(isIP(name) === 0 && { servername: name }), ...(ca && { ca }) });
  await awaitEvent(secured, 'secureConnect');
  return secured;
}

async function startTls(socket: Socket): Promise<void> {
  const reader = createMessageReader(socket);
  socket.write(encodeStartTls(1));
  const { operation } = await reader.next();
  const { code, diagnostic } = decodeResult(operation);
  if (operation.tag !== ldapTags.extendedResponse || code !== resultCodes.success)
    throw new ProviderFailure(`StartTLS refused with code ${code} ${diagnostic}`);
  // Command injection: what follows the response in clear text must not be read as part of the TLS session.
  if (reader.detach() > 0) throw new ProviderFailure('data after the response to StartTLS');
}
