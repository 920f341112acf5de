import { problems } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { Model } from '#definition/model.ts';
import { Unservable } from './step.ts';

export const problem = problems('ports', {
  unreadable: {
    status: 500,
    message: 'gateway.extra_ports: {text} is neither a port nor a range of ports such as 9000-9010',
  },
});

const range = /^(\d{1,5})(?:-(\d{1,5}))?$/;

/** Whether APIs may have a port of their own: only those the operator names. */
export function isExtraPort(settings: Pick<Settings, 'gateway.extra_ports'>, port: number): boolean {
  return settings['gateway.extra_ports'].some(text => {
    const [, from, to = from] = range.exec(text) ?? [];
    if (from === undefined || Number(to) > 65_535 || Number(from) > Number(to))
      throw problem.unreadable({ detail: { text } });
    return port >= Number(from) && port <= Number(to);
  });
}

/** A range that cannot be read would open nothing, and nobody would know. */
export const checkExtraPorts = (settings: Pick<Settings, 'gateway.extra_ports'>): void =>
  void isExtraPort(settings, -1);

/** The port an API answers on; 0 for the gateway's own. */
export function ownPort({ listen }: Model, settings: Settings): number {
  const { port } = listen;
  return port === settings['gateway.port'] || !isExtraPort(settings, port) ? 0 : port;
}

export function checkOwnPort({ listen }: Model, settings: Settings): void {
  if (listen.port !== 0 && listen.port !== settings['gateway.port'] && !isExtraPort(settings, listen.port))
    throw new Unservable(`its port ${listen.port} is not among the gateway.extra_ports`);
}

const secureProtocols: ReadonlySet<string> = new Set(['https', 'http2', 'wss', 'tls']);

/** Whether callers of an API's own port speak TLS. */
export const isSecurePort = ({ listen }: Model, settings: Settings): boolean =>
  listen.protocol === '' ? settings['gateway.tls.enabled'] : secureProtocols.has(listen.protocol);
