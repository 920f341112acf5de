import type { PipelineServices } from '../pipeline/services.ts';
import type { OrganisationLimitCache } from './organisation-limit-cache.ts';

export interface LimitServices extends PipelineServices {
  readonly organisationLimits: OrganisationLimitCache;
}
