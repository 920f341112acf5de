import type { z } from 'zod';
import type { auditFilters } from './schema.ts';
import type { AuditFilter } from './store.ts';

const secondMs = 1000;
const dayMs = 86_400_000;
const toStartMs = (day: string | undefined) => (day === undefined ? undefined : Date.parse(`${day}T00:00:00Z`));

const toMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * secondMs);
const addMs = (time: number | undefined, ms: number) => (time === undefined ? undefined : time + ms);

/** The narrower of two bounds, of which either may be absent. */
const pickBound = (narrow: typeof Math.max, ...bounds: readonly (number | undefined)[]): number | undefined => {
  const given = bounds.filter(bound => bound !== undefined);
  return given.length === 0 ? undefined : narrow(...given);
};

type Filters = { readonly [Name in keyof typeof auditFilters]?: z.output<(typeof auditFilters)[Name]> };

/** Conditions of the store for the filters of a query. */
export function toAuditFilter({
  user,
  action,
  except_action: except,
  ip,
  method,
  status,
  url,
  from_date,
  to_date,
  start,
  end,
}: Filters): AuditFilter {
  const last = toStartMs(to_date);
  return {
    actor: user?.toLowerCase() || undefined,
    actions: action && action.length > 0 ? action : undefined,
    exceptActions: except && except.length > 0 ? except : undefined,
    ip: ip || undefined,
    method: method?.toUpperCase() || undefined,
    status,
    urlPart: url,
    fromMs: pickBound(Math.max, toStartMs(from_date), toMs(start)),
    beforeMs: pickBound(Math.min, addMs(last, dayMs), addMs(toMs(end), secondMs)),
  };
}
