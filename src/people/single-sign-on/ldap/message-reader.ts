import type { Socket } from 'node:net';
import { ProviderFailure } from '../problems.ts';
import { measureElement } from './ber.ts';
import { decodeMessage, type LdapMessage } from './messages.ts';

/** Bytes that one connection may receive. */
const maxReceivedBytes = 1024 * 1024;

/** Errors of the network and of malformed messages. */
export const toFailure = (error: Error): ProviderFailure =>
  error instanceof ProviderFailure ? error : new ProviderFailure(error.message, { cause: error });

/** Reads one message after the other. */
export function createMessageReader(socket: Socket) {
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
