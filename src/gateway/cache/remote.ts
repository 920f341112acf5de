import type { Clock } from '#base/clock.ts';
import { publicId } from '#base/ids.ts';
import type { Blobs } from '#storage/shared.ts';
import { decoded, encoded } from './entry.ts';
import type { Responses } from './responses.ts';

export interface RemoteOptions {
  readonly blobs: Blobs;
  readonly clock: Clock;
}

/** Answers where all gateways find them. While that place is away nothing is kept, and calls go on to their upstreams. */
export function remoteResponses({ blobs, clock }: RemoteOptions): Responses {
  const eraName = (apiId: string) => `era:${apiId}`;
  const name = (apiId: string, key: string) => `kept:${apiId}:${key}`;
  return {
    async find(apiId, key) {
      const found = await blobs.read([eraName(apiId), name(apiId, key)]);
      if (!found) return { kept: undefined, era: undefined };
      const era = found[0]?.toString() ?? '';
      const kept = found[1] && decoded(found[1], era);
      return { kept: kept && kept.expiresAtMs > clock.now() ? kept : undefined, era };
    },
    keep(apiId, key, kept, era) {
      blobs.write(name(apiId, key), encoded(kept, era), kept.expiresAtMs - clock.now());
    },
    drop: (apiId, key) => blobs.remove(name(apiId, key)),
    // Another era makes all that was written before worthless at once, and whatever is still being written too.
    forget: apiId => blobs.settle(eraName(apiId), Buffer.from(publicId())),
  };
}
