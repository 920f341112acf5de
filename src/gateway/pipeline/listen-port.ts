import { extraPortOf, isExtraPort } from '#base/extra-ports.ts';
import type { Settings } from '#base/settings.ts';
import type { Model } from '#definition/model.ts';
import { ApiCompileError } from './step.ts';

/** A range that cannot be read would open nothing, and nobody would know. */
export const validateExtraPorts = (settings: Pick<Settings, 'gateway.extra_ports'>): void =>
  void isExtraPort(settings, -1);

/** The port an API answers on; 0 for the gateway's own. */
export const listenPortOf = ({ listen }: Model, settings: Settings): number => extraPortOf(settings, listen.port);

export function validateListenPort({ listen }: Model, settings: Settings): void {
  if (listen.port !== 0 && listen.port !== settings['gateway.port'] && !isExtraPort(settings, listen.port))
    throw new ApiCompileError(`its port ${listen.port} is not among the gateway.extra_ports`);
}

const tlsProtocols: ReadonlySet<string> = new Set(['https', 'http2', 'wss', 'tls']);

/** Whether callers of an API's own port speak TLS. */
export const isTlsPort = ({ listen }: Model, settings: Settings): boolean =>
  listen.protocol === '' ? settings['gateway.tls.enabled'] : tlsProtocols.has(listen.protocol);
