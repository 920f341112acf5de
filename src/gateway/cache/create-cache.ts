import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { Shared } from '#storage/shared/shared.ts';
import { threadCount } from '../pipeline/thread-count.ts';
import { memoryResponses } from './memory-cache.ts';
import { remoteResponses } from './redis-cache.ts';
import type { Responses } from './response-cache.ts';

export interface ResponsesOptions {
  readonly settings: Settings;
  readonly shared: Shared;
  readonly clock: Clock;
}

const dropped = 'response-dropped';

/** Where a thread keeps answers: in Redis with all others, or in its share of this process's memory. */
export async function openResponses({ settings, shared, clock }: ResponsesOptions): Promise<Responses> {
  if (shared.blobs) return remoteResponses({ blobs: shared.blobs, clock });
  const bytes = Math.floor(settings['cache.memory_bytes'] / threadCount(settings));
  const memory = memoryResponses({ bytes, clock, onDrop: key => void shared.publish(dropped, key) });
  await shared.subscribe(dropped, memory.hear);
  return memory;
}
