import type { Session } from './session.ts';

/** Retention of key records, independent of key expiry. */

export interface ApiLifetime {
  readonly lifetimeSeconds: number;
  /** Retains a record until its key expires. */
  readonly respectsExpiry: boolean;
}

export interface LifetimeSettings {
  /** Replaces every other rule. */
  readonly forcedSeconds?: number;
  readonly respectsExpiry?: boolean;
}

/** Unix seconds after which the record may be removed; undefined is never. The longest of several APIs counts. */
export function recordDeadline(
  session: Session,
  apis: readonly ApiLifetime[],
  settings: LifetimeSettings,
  nowSeconds: number,
): number | undefined {
  if (settings.forcedSeconds) return nowSeconds + settings.forcedSeconds;
  if (session.afterExpiry) return deadlineAfterExpiry(session, session.afterExpiry);
  const deadlines = (apis.length > 0 ? apis : [{ lifetimeSeconds: 0, respectsExpiry: false }]).map(api => {
    const seconds = session.lifetimeSeconds ?? api.lifetimeSeconds;
    if (seconds <= 0) return undefined;
    const deadline = nowSeconds + seconds;
    if (!api.respectsExpiry && !settings.respectsExpiry) return deadline;
    return session.expires && Math.max(deadline, session.expires);
  });
  return deadlines.reduce((one, other) => one && other && Math.max(one, other));
}

function deadlineAfterExpiry(
  { expires }: Session,
  { action, graceSeconds }: NonNullable<Session['afterExpiry']>,
): number | undefined {
  if (expires === undefined || (action === 'retain' && graceSeconds < 0)) return undefined;
  return action === 'retain' ? expires + graceSeconds : expires;
}
