import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, isIP, isIPv6, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { AddressPolicy } from '#base/address-policy.ts';
import { defaultAudienceRules, resolveTarget } from '#base/http-client/target.ts';
import type { UpstreamTlsOptions } from '../proxy/connection-options.ts';

/** What is said over a bare connection to find out whether a host is alive. */
export interface RawTest {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly policy: AddressPolicy;
  readonly tls: UpstreamTlsOptions;
  /** Begins by saying where the connection comes from. */
  readonly saysOrigin: boolean;
  readonly commands: readonly { readonly name: string; readonly message: string }[];
  readonly withinMs: number;
}

const resolve = async (host: string) => (await lookup(host, { all: true })).map(({ address }) => address);

/** Resolves when everything was said and heard as it should be; rejects otherwise. Whatever happens, nothing stays open. */
export async function rawTest(test: RawTest): Promise<void> {
  const bare = new URL(`http://${isIPv6(test.host) ? `[${test.host}]` : test.host}:${test.port}`);
  const { addresses } = await resolveTarget(bare, 'operator', defaultAudienceRules.operator, resolve, test.policy);
  const socket = connect({ host: addresses[0]!, port: test.port, noDelay: true });
  const late = new AbortController();
  const timer = setTimeout(() => socket.destroy(new Error('it took too long')), test.withinMs);
  socket.once('close', () => late.abort(new Error('the connection ended')));
  socket.on('error', error => late.abort(error));
  try {
    await once(socket, 'connect', { signal: late.signal });
    if (test.saysOrigin) socket.write(originOf(socket));
    await talk(test.isSecure ? await secured(socket, test, late.signal) : socket, test, late.signal);
  } catch (error) {
    throw late.signal.aborted ? late.signal.reason : error;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

async function secured(socket: Socket, { host, tls }: RawTest, signal: AbortSignal): Promise<Socket> {
  const secure = connectTls({ ...tls, socket, ...(isIP(host) === 0 ? { servername: host } : {}) });
  secure.on('error', () => socket.destroy());
  await once(secure, 'secureConnect', { signal });
  return secure;
}

async function talk(socket: Socket, { commands }: RawTest, signal: AbortSignal): Promise<void> {
  for (const { name, message } of commands) {
    if (name === 'send') socket.write(message);
    else if (name === 'expect') await expected(socket, Buffer.from(message), signal);
    else throw new Error('a command is neither send nor expect');
  }
}

/** As many bytes as are expected, and the same. */
async function expected(socket: Socket, message: Buffer, signal: AbortSignal): Promise<void> {
  for (let got = Buffer.alloc(0); got.length < message.length; ) {
    const chunk: Buffer | null = socket.read(message.length - got.length) ?? socket.read();
    if (chunk === null) {
      if (socket.readableEnded) throw new Error('the connection ended');
      await once(socket, 'readable', { signal });
      continue;
    }
    got = Buffer.concat([got, chunk]);
    if (message.compare(got, 0, got.length, 0, got.length) !== 0) throw new Error('it says something else');
  }
}

function originOf({ localAddress, remoteAddress, localPort, remotePort }: Socket): string {
  const family = isIPv6(remoteAddress ?? '') ? 'TCP6' : 'TCP4';
  return `PROXY ${family} ${localAddress} ${remoteAddress} ${localPort} ${remotePort}\r\n`;
}
