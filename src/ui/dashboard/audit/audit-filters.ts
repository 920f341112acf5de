import type { ResultOf } from '../../kit/calls.ts';
import type { ListSearch } from '../list-search.ts';

export type AuditRecordView = ResultOf<'GET /api/audit-logs'>['audit_logs'][number];

export const auditFilterNames = ['user', 'action', 'method', 'status', 'from_date', 'to_date', 'open'] as const;
export type AuditSearch = ListSearch<(typeof auditFilterNames)[number]>;

/** Query of the list; a status or day that is not complete yet is left out. */
export function toAuditQuery({ q, user, action, method, status, from_date, to_date, p = 1 }: AuditSearch) {
  const day = (text: string | undefined) => (/^\d{4}-\d{2}-\d{2}$/.test(text ?? '') ? text : undefined);
  return {
    p,
    url: q,
    user,
    action,
    method,
    status: /^[1-5]\d{2}$/.test(status ?? '') ? Number(status) : undefined,
    from_date: day(from_date),
    to_date: day(to_date),
  };
}

export const hasAuditFilters = ({ p: _p, open: _open, ...filters }: AuditSearch): boolean =>
  Object.keys(filters).length > 0;

const objectPaths: readonly (readonly [path: RegExp, toPage: (id: string) => string])[] = [
  [/^\/api\/apis(\/oas|\/streams)?(\/|$)/, id => `/apis/${encodeURIComponent(id)}`],
  [/^\/api\/portal\/policies(\/|$)/, id => `/policies?q=${encodeURIComponent(id)}`],
  [/^\/api\/keys(\/|$)/, id => `/keys?q=${encodeURIComponent(id)}`],
];

/** Page of the object of a record; undefined where it has none, or was deleted. */
export function findObjectPage({ url, object, method, status }: AuditRecordView): string | undefined {
  if (object === '' || method === 'DELETE' || status >= 400 || !/^[\w.~-]+$/.test(object)) return undefined;
  return objectPaths.find(([path]) => path.test(url))?.[1](object);
}
