import type { Clock } from '#base/clock.ts';
import type { AuditEntry } from '#operations/audit.ts';
import type { Records } from '#storage/records.ts';

export type AuditStore = ReturnType<typeof auditStore>;

/** Who changed what. Records are added and, when old, removed; never changed. */
export function auditStore(records: Records, clock: Clock) {
  return {
    async write({ actor, action, method, url, status, ip, object }: AuditEntry): Promise<void> {
      const row = { org_id: actor.orgId, at: clock.now(), actor: actor.name, action, method, url, status, ip };
      const body = JSON.stringify({ surface: actor.surface, actor_id: actor.id, object });
      await records.db
        .insertInto('audit')
        .values({ ...row, body })
        .execute();
    },
    async removeOlderThan(days: number): Promise<void> {
      if (days === 0) return;
      await records.db
        .deleteFrom('audit')
        .where('at', '<', clock.now() - days * 86_400_000)
        .execute();
    },
  };
}
