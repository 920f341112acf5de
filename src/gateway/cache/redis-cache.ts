import type { Clock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import type { Blobs } from '#storage/shared/shared.ts';
import { decoded, encoded } from './entry.ts';
import { dropLog } from './invalidation-log.ts';
import type { Responses } from './response-cache.ts';

export interface RemoteOptions {
  readonly blobs: Blobs;
  readonly clock: Clock;
}

/** Answers where all gateways find them. While that place is away nothing is kept, and calls go on to their upstreams. */
export function remoteResponses({ blobs, clock }: RemoteOptions): Responses {
  const drops = dropLog();
  const eraName = (apiId: string) => `era:${apiId}`;
  const name = (apiId: string, key: string) => `kept:${apiId}:${key}`;
  return {
    async find(apiId, key) {
      const seen = drops.seen();
      const turn = drops.turnOf(key);
      const found = await blobs.read([eraName(apiId), name(apiId, key)]);
      if (!found) return { kept: undefined, era: undefined, turn: `.${turn}` };
      const ofApi = found[0]?.toString() ?? '';
      const kept = found[1] && decoded(found[1], ofApi);
      const isFresh = kept !== undefined && kept.expiresAtMs > clock.now();
      return { kept: isFresh ? kept : undefined, era: `${ofApi}.${seen}`, turn: `${ofApi}.${turn}` };
    },
    keep(apiId, key, kept, era) {
      const [ofApi = '', seen] = era.split('.');
      if (drops.isDroppedSince(key, Number(seen))) return;
      blobs.write(name(apiId, key), encoded(kept, ofApi), kept.expiresAtMs - clock.now());
    },
    drop(apiId, key) {
      drops.add(key);
      blobs.remove(name(apiId, key));
    },
    // Another era makes all that was written before worthless at once, and whatever is still being written too.
    forget: apiId => blobs.writePermanently(eraName(apiId), Buffer.from(createPublicId())),
  };
}
