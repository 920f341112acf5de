import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, isIP, isIPv6, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { AddressPolicy } from '#base/address-policy.ts';
import { defaultAudienceRules, resolveTarget } from '#base/http-client/target.ts';
import type { UpstreamTlsOptions } from '../proxy/connection-options.ts';

/** A TCP health check: send and expect commands over one connection. */
export interface TcpCheck {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly policy: AddressPolicy;
  readonly tls: UpstreamTlsOptions;
  /** Starts with a PROXY protocol v1 header. */
  readonly sendsProxyHeader: boolean;
  readonly commands: readonly { readonly name: string; readonly message: string }[];
  readonly timeoutMs: number;
}

const resolveAddresses = async (host: string) => (await lookup(host, { all: true })).map(({ address }) => address);

/** Resolves when all commands succeed, else rejects; always closes the connection. */
export async function runTcpCheck(test: TcpCheck): Promise<void> {
  const target = new URL(`http://${isIPv6(test.host) ? `[${test.host}]` : test.host}:${test.port}`);
  const { addresses } = await resolveTarget(
    target,
    'operator',
    defaultAudienceRules.operator,
    resolveAddresses,
    test.policy,
  );
  const socket = connect({ host: addresses[0]!, port: test.port, noDelay: true });
  const abort = new AbortController();
  const timer = setTimeout(() => socket.destroy(new Error('the check timed out')), test.timeoutMs);
  socket.once('close', () => abort.abort(new Error('the connection was closed')));
  socket.on('error', error => abort.abort(error));
  try {
    await once(socket, 'connect', { signal: abort.signal });
    if (test.sendsProxyHeader) socket.write(formatProxyHeader(socket));
    await runCommands(test.isSecure ? await upgradeToTls(socket, test, abort.signal) : socket, test, abort.signal);
  } catch (error) {
    throw abort.signal.aborted ? abort.signal.reason : error;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

async function upgradeToTls(socket: Socket, { host, tls }: TcpCheck, signal: AbortSignal): Promise<Socket> {
  const secure = connectTls({ ...tls, socket, ...(isIP(host) === 0 ? { servername: host } : {}) });
  secure.on('error', () => socket.destroy());
  await once(secure, 'secureConnect', { signal });
  return secure;
}

async function runCommands(socket: Socket, { commands }: TcpCheck, signal: AbortSignal): Promise<void> {
  for (const { name, message } of commands) {
    if (name === 'send') socket.write(message);
    else if (name === 'expect') await expectBytes(socket, Buffer.from(message), signal);
    else throw new Error('a command is neither send nor expect');
  }
}

/** Reads as many bytes as are expected and compares them. */
async function expectBytes(socket: Socket, message: Buffer, signal: AbortSignal): Promise<void> {
  for (let received = Buffer.alloc(0); received.length < message.length; ) {
    const chunk: Buffer | null = socket.read(message.length - received.length) ?? socket.read();
    if (chunk === null) {
      if (socket.readableEnded) throw new Error('the connection was closed');
      await once(socket, 'readable', { signal });
      continue;
    }
    received = Buffer.concat([received, chunk]);
    if (message.compare(received, 0, received.length, 0, received.length) !== 0)
      throw new Error('the response does not match');
  }
}

function formatProxyHeader({ localAddress, remoteAddress, localPort, remotePort }: Socket): string {
  const family = isIPv6(remoteAddress ?? '') ? 'TCP6' : 'TCP4';
  return `PROXY ${family} ${localAddress} ${remoteAddress} ${localPort} ${remotePort}\r\n`;
}
