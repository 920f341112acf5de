import type { Socket } from 'node:net';
import { ProviderFailure } from '../problems.ts';
import { createMessageReader } from './message-reader.ts';
import {
  decodeEntry,
  decodeResult,
  encodeBind,
  encodeSearch,
  encodeUnbind,
  type LdapEntry,
  type LdapMessage,
  type LdapSearch,
  ldapTags,
  resultCodes,
} from './messages.ts';

/** Time of one sign-on: DNS, connecting, all requests. */
export const ldapTimeoutMs = 10_000;

/** Requests of one connection, one at a time. */
export function createLdapRequests(socket: Socket, close: () => void) {
  const reader = createMessageReader(socket);
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
    /** Entries of a search, at most `maxEntries`: callers request two, to detect an ambiguous name. */
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
