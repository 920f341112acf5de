import type { ResultOf } from '../../kit/calls.ts';
import type { ListSearch } from '../list-search.ts';
import { objectPages } from '../shell/navigation.ts';

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

/** Kinds of objects by the path of their operations. */
const objectKinds: readonly (readonly [path: RegExp, kind: keyof typeof objectPages])[] = [
  [/^\/api\/apis(\/oas|\/streams)?(\/|$)/, 'apis'],
  [/^\/api\/portal\/policies(\/|$)/, 'policies'],
  [/^\/api\/keys(\/|$)/, 'keys'],
  [/^\/api\/hooks(\/|$)/, 'webhooks'],
  [/^\/api\/assets(\/|$)/, 'templates'],
];

/** Page of the object of a record; undefined where it has none, or was deleted. */
export function findObjectPage({ url, object, method, status }: AuditRecordView): string | undefined {
  if (object === '' || method === 'DELETE' || status >= 400 || !/^[\w.~-]+$/.test(object)) return undefined;
  const kind = objectKinds.find(([path]) => path.test(url))?.[1];
  return kind && objectPages[kind]?.(object);
}
