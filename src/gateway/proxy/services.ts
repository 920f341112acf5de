import type { PipelineServices } from '../pipeline/services.ts';
import type { UpstreamAuthorities } from './authorities.ts';
import type { ServiceDiscovery } from './service-discovery.ts';

export interface ProxyServices extends PipelineServices {
  readonly serviceDiscovery: ServiceDiscovery;
  readonly upstreamAuthorities: UpstreamAuthorities;
}
