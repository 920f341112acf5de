import { isExtraPort } from '#base/extra-ports.ts';
import type { Model } from '#definition/model.ts';
import { ApiCompileError, type MaybePromise } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import { isValidHost } from '../proxy/load-balancer.ts';
import type { Api } from './api.ts';

/** A service of bare connections: no calls, no steps, only bytes passed on both ways. */
export interface Passage {
  /** Callers speak TLS; which of several services on a port they want, they say in it. */
  readonly isSecure: boolean;
  /** Connections begin by saying, for a balancer in front, where they come from. */
  readonly saysOrigin: boolean;
  /** Undefined when there is nowhere to go. */
  next(): MaybePromise<PassageTarget | undefined>;
}

export interface PassageTarget {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

export const isRaw = ({ listen }: Model): boolean => listen.protocol === 'tcp' || listen.protocol === 'tls';

export function passageOf(
  model: Model,
  { settings, serviceDiscovery: registries }: Pick<StepServices, 'settings' | 'serviceDiscovery'>,
): Passage | undefined {
  if (!isRaw(model)) return undefined;
  const { listen, loadBalancing, upstream, serviceDiscovery } = model;
  if (listen.port === settings['gateway.port'] || !isExtraPort(settings, listen.port))
    throw new ApiCompileError(`its port ${listen.port} is not among the gateway.extra_ports`);
  let at = 0;
  const choose = (list: readonly PassageTarget[]): PassageTarget | undefined => {
    at = loadBalancing.enabled ? (at + 1) % Math.max(1, list.length) : 0;
    return list[at];
  };
  const common = { isSecure: listen.protocol === 'tls', saysOrigin: listen.proxyProtocol };
  if (serviceDiscovery.enabled) {
    const registry = registries.of('raw', serviceDiscovery, texts => texts.flatMap(registered));
    return {
      ...common,
      next() {
        const list = registry.list();
        return list instanceof Promise ? list.then(choose) : choose(list);
      },
    };
  }
  const list = loadBalancing.enabled
    ? loadBalancing.targets.flatMap(({ url, weight }) => Array<PassageTarget>(weight).fill(targetOf(url)))
    : [targetOf(upstream.url)];
  if (list.length === 0) throw new ApiCompileError('all load balancing targets have weight 0');
  return { ...common, next: () => choose(list) };
}

/** What cannot be connected to is left out. */
function registered(address: string): PassageTarget[] {
  const target = read(address);
  return target && isValidHost(target.host) ? [target] : [];
}

function targetOf(address: string): PassageTarget {
  const target = read(address);
  if (!target)
    throw new ApiCompileError(`the upstream address ${JSON.stringify(address)} is not tcp:// or tls:// with a port`);
  return target;
}

function read(address: string): PassageTarget | undefined {
  const url = URL.parse(address.includes('://') ? address : `tcp://${address}`);
  const port = Number(url?.port);
  if (!url || (url.protocol !== 'tcp:' && url.protocol !== 'tls:') || !url.hostname || !port) return undefined;
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, isSecure: url.protocol === 'tls:' };
}

/** The services of one port: the one of the name a caller asks for, or the one that has no name. */
export function passageFor(apis: readonly Api[], serverName: string): Api | undefined {
  return apis.find(({ host }) => host !== '' && host === serverName) ?? apis.find(({ host }) => host === '');
}
