import { problems } from '#base/problems.ts';

const problem = problems('start', {
  port_taken: {
    status: 500,
    message: 'Port {port} on {host} is in use: stop the process that listens there, or set {setting}',
  },
  cannot_listen: { status: 500, message: 'Cannot listen on {host}:{port}: {reason}' },
});

/** Runs `listen`, and translates bind errors for operators. */
export async function listenAt(
  host: string,
  port: number,
  setting: string,
  listen: () => Promise<unknown>,
): Promise<void> {
  try {
    await listen();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw problem.port_taken({ detail: { host, port, setting }, cause });
    throw problem.cannot_listen({ detail: { host, port, reason: message }, cause });
  }
}
