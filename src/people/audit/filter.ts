import type { z } from 'zod';
import type { auditFilters } from './schema.ts';
import type { AuditFilter } from './store.ts';

const dayMs = 86_400_000;
const toStartMs = (day: string | undefined) => (day === undefined ? undefined : Date.parse(`${day}T00:00:00Z`));

type Filters = { readonly [Name in keyof typeof auditFilters]?: z.output<(typeof auditFilters)[Name]> };

/** Conditions of the store for the filters of a query. */
export function toAuditFilter({ user, action, ip, method, status, url, from_date, to_date }: Filters): AuditFilter {
  const last = toStartMs(to_date);
  return {
    actor: user?.toLowerCase() || undefined,
    action: action || undefined,
    ip: ip || undefined,
    method: method?.toUpperCase() || undefined,
    status,
    urlPart: url,
    fromMs: toStartMs(from_date),
    beforeMs: last === undefined ? undefined : last + dayMs,
  };
}
