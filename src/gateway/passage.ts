import type { Settings } from '#base/settings.ts';
import type { Model } from '#definition/model.ts';
import type { Api } from './api.ts';
import { isExtraPort } from './own-ports.ts';
import { Unservable } from './step.ts';

/** A service of bare connections: no calls, no steps, only bytes passed on both ways. */
export interface Passage {
  /** Callers speak TLS; which of several services on a port they want, they say in it. */
  readonly isSecure: boolean;
  /** Connections begin by saying, for a balancer in front, where they come from. */
  readonly saysOrigin: boolean;
  next(): PassageTarget;
}

export interface PassageTarget {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

export const isRaw = ({ listen }: Model): boolean => listen.protocol === 'tcp' || listen.protocol === 'tls';

export function passageOf(model: Model, settings: Settings): Passage | undefined {
  if (!isRaw(model)) return undefined;
  const { listen, loadBalancing, upstream, serviceDiscovery } = model;
  if (listen.port === settings['gateway.port'] || !isExtraPort(settings, listen.port))
    throw new Unservable(`its port ${listen.port} is not among the gateway.extra_ports`);
  if (serviceDiscovery.enabled) throw new Unservable('the gateway does not offer service discovery for raw services');
  const list = loadBalancing.enabled
    ? loadBalancing.targets.flatMap(({ url, weight }) => Array<PassageTarget>(weight).fill(targetOf(url)))
    : [targetOf(upstream.url)];
  if (list.length === 0) throw new Unservable('all load balancing targets have weight 0');
  let at = 0;
  return {
    isSecure: listen.protocol === 'tls',
    saysOrigin: listen.proxyProtocol,
    next() {
      at = (at + 1) % list.length;
      return list[at]!;
    },
  };
}

function targetOf(address: string): PassageTarget {
  const url = URL.parse(address.includes('://') ? address : `tcp://${address}`);
  const port = Number(url?.port);
  if (!url || (url.protocol !== 'tcp:' && url.protocol !== 'tls:') || !url.hostname || !port)
    throw new Unservable(`the upstream address ${JSON.stringify(address)} is not tcp:// or tls:// with a port`);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, isSecure: url.protocol === 'tls:' };
}

/** The services of one port: the one of the name a caller asks for, or the one that has no name. */
export function passageFor(apis: readonly Api[], serverName: string): Api | undefined {
  return apis.find(({ host }) => host !== '' && host === serverName) ?? apis.find(({ host }) => host === '');
}
