import type { AddressPolicy } from '#base/address-policy.ts';
import type { Inject } from '#operations/in-process-request.ts';
import type { AuthServices, OauthRpc } from '../auth/services.ts';
import type { CacheServices } from '../cache/services.ts';
import type { LimitServices } from '../limits/services.ts';
import type { RpcCall } from '../pipeline/thread-rpc.ts';
import type { PluginRpc } from '../plugins/plugin-rpc.ts';
import type { PluginServices } from '../plugins/services.ts';
import type { ProxyServices } from '../proxy/services.ts';

/** RPC that the main thread answers for traffic threads. */
export interface MainThreadRpc extends OauthRpc, PluginRpc {
  /** True for the gateway secret. */
  isGatewaySecret(request: { readonly secret: string }): Promise<boolean>;
  /** True for the gateway secret, and for an explain token of this request. */
  explains(request: {
    readonly secret: string;
    readonly request: { readonly method: string; readonly host: string; readonly path: string };
  }): Promise<boolean>;
  /** Claims a port; rejects where another process has it. Threads share ports among themselves. */
  claimPort(request: { readonly port: number }): Promise<void>;
  releasePort(request: { readonly port: number }): Promise<void>;
  /** A request to the control interface. */
  readonly control: Inject;
}

/** Clients of other servers on behalf of one organisation, held to its address policy. */
export interface NetworkServices {
  readonly outbound: AuthServices['outbound'];
  readonly jwks: AuthServices['jwks'];
  readonly serviceDiscovery: ProxyServices['serviceDiscovery'];
}

/** All services of a traffic thread. A step names those it uses: `Step<Pick<PipelineServices, 'clock'>>`. */
export interface StepServices extends LimitServices, CacheServices, AuthServices, ProxyServices, PluginServices {
  readonly rpc: RpcCall<MainThreadRpc>;
  networkFor(policy: AddressPolicy): NetworkServices;
}
