import type { Session } from '#access/keys/session.ts';
import { type ApiLifetime, recordDeadline } from '#access/keys/session-lifetime.ts';
import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { Model } from '#definition/model.ts';

/** APIs of a snapshot by id; a new map for every change. */
type ApisById = ReadonlyMap<string, { readonly model: Model }>;

/** The snapshot in service, as far as the lifetime of keys depends on it. */
export interface ServedLifetimes {
  readonly apis: ApisById;
  readonly subsets: { readonly lifetimeLimited: readonly unknown[] };
}

export interface LifetimeOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly served: () => ServedLifetimes;
}

/** The age of a key. */
export interface KeyAge {
  readonly session: Session;
  /** Unix seconds. */
  readonly createdAt: number;
}

interface CachedDeadline {
  readonly apis: ApisById;
  readonly deadline: number | undefined;
}

/** Key lifetime: from the key, its APIs and the settings. */
export function createLifetimeCheck({ settings, clock, served }: LifetimeOptions): {
  isPastLifetime(key: KeyAge): boolean;
} {
  const defaultSeconds = settings['keys.lifetime_seconds'];
  const rules = {
    ...(settings['keys.force_lifetime'] ? { forcedSeconds: defaultSeconds } : {}),
    respectsExpiry: settings['keys.lifetime_respects_expiry'],
  };
  const deadlines = new WeakMap<KeyAge, CachedDeadline>();

  const toApiLifetime = ({ authentication }: Model): ApiLifetime => ({
    lifetimeSeconds: authentication.sessionLifetimeSeconds || defaultSeconds,
    respectsExpiry: authentication.sessionLifetimeRespectsExpiry,
  });
  const defaultLifetime: ApiLifetime = { lifetimeSeconds: defaultSeconds, respectsExpiry: false };

  /** Fast path: usually no lifetime is limited. */
  const isLimited = ({ lifetimeSeconds, afterExpiry }: Session, { subsets }: ServedLifetimes): boolean =>
    defaultSeconds > 0 ||
    lifetimeSeconds !== undefined ||
    afterExpiry !== undefined ||
    subsets.lifetimeLimited.length > 0;

  function computeDeadline({ session, createdAt: madeAt }: KeyAge, current: ApisById): number | undefined {
    const apisOfKey = [...session.rights.keys()].flatMap(apiId => current.get(apiId) ?? []);
    const lifetimes = apisOfKey.length > 0 ? apisOfKey.map(({ model }) => toApiLifetime(model)) : [defaultLifetime];
    return recordDeadline(session, lifetimes, rules, madeAt);
  }

  return {
    isPastLifetime(key) {
      const current = served();
      if (!isLimited(key.session, current)) return false;
      const { apis } = current;
      let cached = deadlines.get(key);
      if (cached?.apis !== apis) {
        cached = { apis, deadline: computeDeadline(key, apis) };
        deadlines.set(key, cached);
      }
      return cached.deadline !== undefined && clock.now() > cached.deadline * 1000;
    },
  };
}
