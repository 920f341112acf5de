import type { PipelineServices } from '../pipeline/services.ts';
import type { ResponseCache } from './response-cache.ts';

export interface CacheServices extends PipelineServices {
  readonly responseCache: ResponseCache;
}
