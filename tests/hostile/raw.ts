import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '../support/upstream.ts';

/** A raw TCP client that sends the bytes of the test. */
export interface Caller {
  readonly socket: Socket;
  send(text: string | Uint8Array): void;
  /** All bytes received so far, as latin-1. */
  received(): string;
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves when the other side has closed. */
  readonly closed: Promise<void>;
  leave(): void;
}

export async function call(port: number, host = '127.0.0.1'): Promise<Caller> {
  const socket = connect({ port, host, allowHalfOpen: true });
  await once(socket, 'connect');
  return callerOn(socket);
}

export function callerOn(socket: Socket): Caller {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
  socket.on('error', () => undefined);
  const closed = new Promise<void>(resolve => {
    socket.once('end', () => resolve());
    socket.once('close', () => resolve());
  });
  const readReceived = () => Buffer.concat(chunks).toString('latin1');
  return {
    socket,
    send: text => void socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text),
    received: readReceived,
    until: pattern =>
      eventually(() => {
        const found = pattern.exec(readReceived());
        assert.ok(found, `${pattern} in ${JSON.stringify(readReceived().slice(0, 500))}`);
        return found;
      }),
    closed,
    leave: () => void socket.destroy(),
  };
}

/** Statuses of the responses in a text, in order. */
export const statusesIn = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
