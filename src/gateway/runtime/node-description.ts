import type { NodeLoad, SystemNode } from '#apis/system/node-store.ts';
import type { Clock } from '#base/clock.ts';
import { describeProcess } from '#base/process.ts';
import type { Settings } from '#base/settings.ts';
import type { DataPlane } from './data-plane.ts';

export interface NodeDescriptionOptions {
  readonly id: string;
  readonly settings: Settings;
  readonly version: string;
  readonly clock: Clock;
  /** State of the traffic threads; undefined in a process without them. */
  readonly traffic: DataPlane['state'];
  readonly readLoad: () => NodeLoad;
}

/** Describes this process for its heartbeat and the list of nodes. */
export function createNodeDescription({ id, settings, version, clock, traffic, readLoad }: NodeDescriptionOptions) {
  return (): SystemNode => {
    const state = traffic();
    return {
      id,
      ...describeProcess(),
      heartbeatAtMs: clock.now(),
      role: settings.role,
      version,
      segments: settings['gateway.segments'],
      load: readLoad(),
      ...(state && {
        traffic: {
          threads: state.count,
          running: state.running,
          restarts: state.restarts,
          revision: state.served?.revision ?? 0,
          loadedAtMs: state.served?.loadedAtMs ?? 0,
        },
      }),
    };
  };
}
