import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { problems } from '#base/problems.ts';
import type { ManagementListener } from './management-listeners.ts';

const problem = problems('start', {
  port_taken: {
    status: 500,
    message: 'Port {port} on {host} is in use: stop the process that listens there, or set {setting}',
  },
  cannot_listen: { status: 500, message: 'Cannot listen on {host}:{port}: {reason}' },
});

/** Runs `listen`, and translates bind errors for operators. */
async function listenAt(host: string, port: number, setting: string, listen: () => Promise<unknown>): Promise<void> {
  try {
    await listen();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw problem.port_taken({ detail: { host, port, setting }, cause });
    throw problem.cannot_listen({ detail: { host, port, reason: message }, cause });
  }
}

/** Opens a management listener; returns its port and URL. */
export async function openManagementListener(
  app: FastifyInstance,
  { host, port, setting }: ManagementListener,
  scheme: 'http' | 'https',
): Promise<{ port: number; url: string }> {
  await listenAt(host, port, setting, () => app.listen({ host, port }));
  const address = app.server.address() as AddressInfo;
  return { port: address.port, url: formatListenerUrl(host, address, scheme) };
}

/** URL of a listener as this machine reaches it. */
export const formatListenerUrl = (host: string, { port }: { port: number }, scheme: 'http' | 'https'): string => {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
};
