import { Problem } from '#base/problems.ts';
import type { catalogue } from '../catalogue.ts';
import { problem } from './problems.ts';
import { createSurfaceClient, type SurfaceClient, type SurfaceClientOptions } from './surface-client.ts';

/** Control operations only: the types of the whole catalogue exceed the compiler's limits. */
type ControlOperations = readonly Extract<(typeof catalogue)[number], { path: `/gw/${string}` }>[];
/** Client of the control API of a gateway. */
export type ControlClient = SurfaceClient<ControlOperations>;

/** Result of one write. */
export interface ApplyResult {
  readonly key: string;
  readonly action: string;
  /** Members accepted without effect. */
  readonly warnings?: readonly string[];
}

export const createControlClient = (options: SurfaceClientOptions): ControlClient =>
  createSurfaceClient<ControlOperations>('gateway', options);

/** Maps 404 to undefined. */
export async function findOrUndefined<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof Problem && error.code === problem.refused.code && error.status === 404) return undefined;
    throw error;
  }
}
