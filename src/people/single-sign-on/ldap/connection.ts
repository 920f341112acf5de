import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type AddressPolicy, createGuardedLookup, refuseHost } from '#base/address-policy.ts';
import { ProviderFailure } from '../problems.ts';
import { measureElement } from './ber.ts';
import {
  decodeEntry,
  decodeMessage,
  decodeResult,
  encodeBind,
  encodeSearch,
  encodeStartTls,
  encodeUnbind,
  type LdapEntry,
  type LdapMessage,
  type LdapSearch,
  ldapTags,
  resultCodes,
} from './messages.ts';

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

/** Time of one sign-on: DNS, connecting, all requests. */
export const ldapTimeoutMs = 10_000;
/** Bytes that one connection may receive. */
const maxReceivedBytes = 1024 * 1024;

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
    return createRequests(socket, close);
  } catch (error) {
    close();
    throw toFailure(error as Error);
  }
}

/** Errors of the network and of malformed messages. */
export const toFailure = (error: Error): ProviderFailure =>
  error instanceof ProviderFailure ? error : new ProviderFailure(error.message, { cause: error });

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
  const reader = createReader(socket);
  socket.write(encodeStartTls(1));
  const { operation } = await reader.next();
  const { code, diagnostic } = decodeResult(operation);
  if (operation.tag !== ldapTags.extendedResponse || code !== resultCodes.success)
    throw new ProviderFailure(`StartTLS refused with code ${code} ${diagnostic}`);
  // Command injection: what follows the response in clear text must not be read as part of the TLS session.
  if (reader.detach() > 0) throw new ProviderFailure('data after the response to StartTLS');
}

/** Reads one message after the other. */
function createReader(socket: Socket) {
  let buffered: Buffer = Buffer.alloc(0);
  let received = 0;
  let failure: Error | undefined;
  let wake: () => void = () => undefined;
  const fail = (error: Error) => {
    failure ??= toFailure(error);
    wake();
  };
  const onData = (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxReceivedBytes) return socket.destroy(new ProviderFailure('directory sent too much'));
    buffered = Buffer.concat([buffered, chunk]);
    wake();
  };
  const onClose = () => fail(new ProviderFailure('directory closed the connection'));
  socket.on('data', onData).on('error', fail).on('close', onClose);

  function takeMessage(): LdapMessage | undefined {
    const length = measureElement(buffered);
    if (length === undefined || buffered.length < length) return undefined;
    const message = decodeMessage(buffered.subarray(0, length));
    buffered = buffered.subarray(length);
    return message;
  }

  return {
    async next(): Promise<LdapMessage> {
      for (;;) {
        const message = takeMessage();
        if (message) return message;
        if (failure) throw failure;
        await new Promise<void>(resolve => {
          wake = resolve;
        });
      }
    },
    /** Stops reading; the number of bytes that were received and not read. */
    detach(): number {
      socket.off('data', onData).off('error', fail).off('close', onClose);
      socket.pause();
      return buffered.length;
    },
  };
}

/** Requests of one connection, one at a time. */
function createRequests(socket: Socket, close: () => void) {
  const reader = createReader(socket);
  let lastId = 1;

  async function receive(id: number): Promise<LdapMessage> {
    const message = await reader.next();
    if (message.id !== id) throw new ProviderFailure('directory responded to another request');
    return message;
  }

  return {
    /** Simple bind: true where the password is right. An empty one is no authentication (RFC 4513, section 5.1.2). */
    async bind(name: string, password: string): Promise<boolean> {
      if (name === '' || password === '') return false;
      const id = ++lastId;
      socket.write(encodeBind(id, name, password));
      const { operation } = await receive(id);
      const { code, diagnostic } = decodeResult(operation);
      if (operation.tag !== ldapTags.bindResponse)
        throw new ProviderFailure('directory responded without a bind result');
      if (code === resultCodes.success) return true;
      if (refusedBindCodes.has(code)) return false;
      throw new ProviderFailure(`bind failed with code ${code} ${diagnostic}`);
    },
    /** Entries of a search, at most one more than requested: more than one user is no user. */
    async search(search: Omit<LdapSearch, 'timeoutSeconds'>): Promise<LdapEntry[]> {
      const id = ++lastId;
      socket.write(encodeSearch(id, { ...search, timeoutSeconds: ldapTimeoutMs / 1000 }));
      const entries: LdapEntry[] = [];
      for (;;) {
        const { operation } = await receive(id);
        if (operation.tag === ldapTags.searchEntry) entries.push(decodeEntry(operation));
        else if (operation.tag === ldapTags.searchDone) {
          const { code, diagnostic } = decodeResult(operation);
          if (code === resultCodes.success || code === resultCodes.noSuchObject) return entries;
          if (code === resultCodes.sizeLimitExceeded) return entries;
          throw new ProviderFailure(`search failed with code ${code} ${diagnostic}`);
        } else if (operation.tag !== ldapTags.searchReference) throw new ProviderFailure('unexpected message');
        if (entries.length > search.maxEntries) throw new ProviderFailure('directory sent too many entries');
      }
    },
    close(): void {
      if (socket.writable) socket.end(encodeUnbind(++lastId));
      close();
    },
  };
}

/** Unknown name, wrong password and locked account look the same to a client. */
const refusedBindCodes: ReadonlySet<number> = new Set([
  resultCodes.noSuchObject,
  resultCodes.invalidDnSyntax,
  resultCodes.inappropriateAuthentication,
  resultCodes.invalidCredentials,
  resultCodes.insufficientAccessRights,
  resultCodes.unwillingToPerform,
]);
