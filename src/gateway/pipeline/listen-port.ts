import { extraPortOf, isExtraPort } from '#base/extra-ports.ts';
import type { Settings } from '#base/settings.ts';
import type { Model } from '#definition/model.ts';
import { ApiCompileError } from './step.ts';

/** Validates `gateway.extra_ports` at start: an invalid range would silently open no port. */
export const validateExtraPorts = (settings: Pick<Settings, 'gateway.extra_ports'>): void =>
  void isExtraPort(settings, -1);

/** Listen port of an API; 0 for the port of the gateway. */
export const listenPortOf = ({ listen }: Model, settings: Settings): number => extraPortOf(settings, listen.port);

export function validateListenPort({ listen }: Model, settings: Settings): void {
  if (listen.port !== 0 && listen.port !== settings['gateway.port'] && !isExtraPort(settings, listen.port))
    throw new ApiCompileError(`its port ${listen.port} is not in gateway.extra_ports`);
}

const tlsProtocols: ReadonlySet<string> = new Set(['https', 'http2', 'wss', 'tls']);

/** True when the own port of an API uses TLS. */
export const isTlsPort = ({ listen }: Model, settings: Settings): boolean =>
  listen.protocol === '' ? settings['gateway.tls.enabled'] : tlsProtocols.has(listen.protocol);
