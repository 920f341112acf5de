import type { Clock } from '#base/clock.ts';
import { createDebugRuns } from '../inspect/debug/run-limit.ts';
import { listUnsupportedFeatures } from '../steps/unsupported.ts';
import type { DataPlane } from './data-plane.ts';

/** Services of operations that inspect requests and definitions. */
export const createInspectServices = (dataPlane: DataPlane, clock: Clock) => ({
  callThread: dataPlane.call,
  broadcastToThreads: dataPlane.broadcast,
  listUnsupportedFeatures,
  debugRuns: createDebugRuns(clock),
});
