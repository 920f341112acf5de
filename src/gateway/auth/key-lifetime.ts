import type { Session } from '#access/keys/session.ts';
import { type ApiLifetime, recordDeadline } from '#access/keys/session-lifetime.ts';
import type { Clock } from '#base/clock.ts';
import type { Settings } from '#base/settings.ts';
import type { Model } from '#definition/model.ts';

/** The APIs of a snapshot by id; another map whenever one of them changes. */
export type ApisById = ReadonlyMap<string, { readonly model: Model }>;

export interface LifetimeOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly apis: () => ApisById;
}

/** A key as far as its lifetime goes. */
export interface Lasting {
  readonly session: Session;
  /** Unix seconds. */
  readonly madeAt: number;
}

interface Known {
  readonly apis: ApisById;
  readonly deadline: number | undefined;
}

/** Tells which keys are no longer kept, by what they say themselves, their APIs and the settings. */
export function lifetimesOf({ settings, clock, apis }: LifetimeOptions): { isGone(key: Lasting): boolean } {
  const usualSeconds = settings['keys.lifetime_seconds'];
  const rules = {
    ...(settings['keys.force_lifetime'] ? { forcedSeconds: usualSeconds } : {}),
    respectsExpiry: settings['keys.lifetime_respects_expiry'],
  };
  const known = new WeakMap<Lasting, Known>();
  let looked: ApisById | undefined;
  let anyLimits = false;

  const lifetimeOf = ({ authentication }: Model): ApiLifetime => ({
    lifetimeSeconds: authentication.sessionLifetimeSeconds || usualSeconds,
    respectsExpiry: authentication.sessionLifetimeRespectsExpiry,
  });
  const usual: ApiLifetime = { lifetimeSeconds: usualSeconds, respectsExpiry: false };

  /** Almost always nothing limits the life of a key, and then there is nothing to look up for a call. */
  function isLimited({ lifetimeSeconds, afterExpiry }: Session, current: ApisById): boolean {
    if (usualSeconds > 0 || lifetimeSeconds !== undefined || afterExpiry !== undefined) return true;
    if (looked !== current) {
      looked = current;
      anyLimits = [...current.values()].some(({ model }) => model.authentication.sessionLifetimeSeconds > 0);
    }
    return anyLimits;
  }

  function deadlineOf({ session, madeAt }: Lasting, current: ApisById): number | undefined {
    const named = [...session.rights.keys()].flatMap(apiId => current.get(apiId) ?? []);
    const lifetimes = named.length > 0 ? named.map(({ model }) => lifetimeOf(model)) : [usual];
    return recordDeadline(session, lifetimes, rules, madeAt);
  }

  return {
    isGone(key) {
      const current = apis();
      if (!isLimited(key.session, current)) return false;
      let found = known.get(key);
      if (found?.apis !== current) {
        found = { apis: current, deadline: deadlineOf(key, current) };
        known.set(key, found);
      }
      return found.deadline !== undefined && clock.now() > found.deadline * 1000;
    },
  };
}
