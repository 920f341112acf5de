import { isExtraPort } from '#base/extra-ports.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Model } from '#definition/model.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { isValidHost } from '../proxy/load-balancer.ts';
import type { StepServices } from '../steps/step-services.ts';
import type { Api } from './api.ts';

/** A service of bare connections: no calls, no steps, only bytes passed on both ways. */
export interface TcpService {
  /** Callers speak TLS; which of several services on a port they want, they say in it. */
  readonly isSecure: boolean;
  /** Connections begin by saying, for a balancer in front, where they come from. */
  readonly usesProxyProtocol: boolean;
  /** Undefined when there is nowhere to go. */
  next(): MaybePromise<TcpTarget | undefined>;
}

export interface TcpTarget {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

export const isTcpApi = ({ listen }: Model): boolean => listen.protocol === 'tcp' || listen.protocol === 'tls';

export function compileTcpService(
  model: Model,
  { settings, serviceDiscovery: registries }: Pick<StepServices, 'settings' | 'serviceDiscovery'>,
): TcpService | undefined {
  if (!isTcpApi(model)) return undefined;
  const { listen, loadBalancing, upstream, serviceDiscovery } = model;
  if (listen.port === settings['gateway.port'] || !isExtraPort(settings, listen.port))
    throw new ApiCompileError(`its port ${listen.port} is not among the gateway.extra_ports`);
  let index = 0;
  const choose = (list: readonly TcpTarget[]): TcpTarget | undefined => {
    index = loadBalancing.enabled ? (index + 1) % Math.max(1, list.length) : 0;
    return list[index];
  };
  const common = { isSecure: listen.protocol === 'tls', usesProxyProtocol: listen.proxyProtocol };
  if (serviceDiscovery.enabled) {
    const registry = registries.of('raw', serviceDiscovery, texts => texts.flatMap(parseRegisteredTarget));
    return {
      ...common,
      next() {
        const list = registry.list();
        return list instanceof Promise ? list.then(choose) : choose(list);
      },
    };
  }
  const list = loadBalancing.enabled
    ? loadBalancing.targets.flatMap(({ url, weight }) => Array<TcpTarget>(weight).fill(requireTarget(url)))
    : [requireTarget(upstream.url)];
  if (list.length === 0) throw new ApiCompileError('all load balancing targets have weight 0');
  return { ...common, next: () => choose(list) };
}

/** What cannot be connected to is left out. */
function parseRegisteredTarget(address: string): TcpTarget[] {
  const target = parseTarget(address);
  return target && isValidHost(target.host) ? [target] : [];
}

function requireTarget(address: string): TcpTarget {
  const target = parseTarget(address);
  if (!target)
    throw new ApiCompileError(`the upstream address ${JSON.stringify(address)} is not tcp:// or tls:// with a port`);
  return target;
}

function parseTarget(address: string): TcpTarget | undefined {
  const url = URL.parse(address.includes('://') ? address : `tcp://${address}`);
  const port = Number(url?.port);
  if (!url || (url.protocol !== 'tcp:' && url.protocol !== 'tls:') || !url.hostname || !port) return undefined;
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, isSecure: url.protocol === 'tls:' };
}

/** The services of one port: the one of the name a caller asks for, or the one that has no name. */
export function selectTcpService(apis: readonly Api[], serverName: string): Api | undefined {
  return apis.find(({ host }) => host !== '' && host === serverName) ?? apis.find(({ host }) => host === '');
}
