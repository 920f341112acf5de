import { isExtraPort } from '#base/extra-ports.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Model } from '#definition/model.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { isValidHost } from '../proxy/load-balancer.ts';
import type { StepServices } from '../steps/step-services.ts';

/** Layer 4 proxying: bytes in both directions, no HTTP, no steps. */
export interface TcpService {
  /** TLS is terminated here; SNI selects among the services of a port. */
  readonly isSecure: boolean;
  /** Connections start with a PROXY protocol header of the load balancer in front. */
  readonly usesProxyProtocol: boolean;
  /** Undefined when there is no target. */
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
    throw new ApiCompileError(`its port ${listen.port} is not in gateway.extra_ports`);
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

/** Skips registry entries that are not a valid target. */
function parseRegisteredTarget(address: string): TcpTarget[] {
  const target = parseTarget(address);
  return target && isValidHost(target.host) ? [target] : [];
}

function requireTarget(address: string): TcpTarget {
  const target = parseTarget(address);
  if (!target)
    throw new ApiCompileError(`the upstream URL ${JSON.stringify(address)} is not tcp:// or tls:// with a port`);
  return target;
}

function parseTarget(address: string): TcpTarget | undefined {
  const url = URL.parse(address.includes('://') ? address : `tcp://${address}`);
  const port = Number(url?.port);
  if (!url || (url.protocol !== 'tcp:' && url.protocol !== 'tls:') || !url.hostname || !port) return undefined;
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, isSecure: url.protocol === 'tls:' };
}

/** SNI match among the services of one port, else the service without a host. */
export function selectTcpService<A extends { readonly host: string }>(
  apis: readonly A[],
  serverName: string,
): A | undefined {
  return apis.find(({ host }) => host !== '' && host === serverName) ?? apis.find(({ host }) => host === '');
}
