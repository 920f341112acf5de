import type { CertificateCache } from '../auth/certificate-cache.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { RpcCall } from '../pipeline/thread-rpc.ts';
import type { UpstreamAuthorities } from '../proxy/authorities.ts';
import type { PluginBundles } from './bundles/plugin-bundles.ts';
import type { GrpcClient } from './grpc/grpc-client.ts';
import type { PluginRpc } from './plugin-rpc.ts';
import type { PluginRunner } from './plugin-runner.ts';
import type { TrustedModules } from './typescript/trusted-modules.ts';

/** Services of plugin steps. */
export interface PluginServices
  extends Pick<PipelineServices, 'settings' | 'log' | 'clock' | 'outbound' | 'grants' | 'emitEvent'> {
  readonly pluginRunner: PluginRunner;
  readonly rpc: RpcCall<PluginRpc>;
  /** Server of plugins in gRPC; undefined where none is configured. */
  readonly grpcPlugins: GrpcClient | undefined;
  readonly trustedModules: TrustedModules;
  readonly pluginBundles: PluginBundles;
  /** For the TLS options of requests of plugins. */
  readonly certificates: CertificateCache;
  readonly upstreamAuthorities: UpstreamAuthorities;
}
