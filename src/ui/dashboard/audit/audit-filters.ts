import type { ResultOf } from '../../kit/calls.ts';
import type { ListSearch } from '../../kit/list-search.ts';
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

/** Address of one file with all records that the filters match. */
export function toAuditExportAddress(search: AuditSearch, type: 'csv' | 'json'): string {
  const { p: _p, ...filters } = toAuditQuery(search);
  const pairs = Object.entries({ ...filters, type }).filter(([, value]) => value !== undefined);
  return `/api/audit-logs/export?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
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

/** Histories by the path of the operations on their objects, with the permission of their pages. */
const histories = [
  [/^\/api\/apis\/(?:oas\/|streams\/)?[^/]+$/, 'GET /api/revisions/apis/{apiId}', 'apis'],
  [/^\/api\/portal\/policies\/[^/]+$/, 'GET /api/revisions/policies/{policyId}', 'policies'],
  [/^\/api\/hooks\/[^/]+$/, 'GET /api/revisions/hooks/{hookId}', 'hooks'],
  [/^\/api\/assets\/[^/]+$/, 'GET /api/revisions/assets/{assetId}', 'api_assets'],
] as const;

export interface RecordHistory {
  readonly route: (typeof histories)[number][1];
  readonly permission: string;
  /** Id of the object under the parameter of each history: a path takes its own. */
  readonly params: Readonly<Record<'apiId' | 'policyId' | 'hookId' | 'assetId', string>>;
}

/** History of the object that a record changed; undefined where it has none. */
export function findHistory({ url, object, method, status }: AuditRecordView): RecordHistory | undefined {
  if (object === '' || status >= 400 || !['PUT', 'PATCH', 'POST'].includes(method)) return undefined;
  const found = histories.find(([path]) => path.test(url));
  const params = { apiId: object, policyId: object, hookId: object, assetId: object };
  return found && { route: found[1], permission: found[2], params };
}

/** The record is written after the revision, which has milliseconds. */
const maxLagMs = 5000;
const secondMs = 1000;

type ListedRevision = ResultOf<'GET /api/revisions/apis/{apiId}'>['revisions'][number];

/** Revision that a record is about: by operation, author and time. None where two are possible. */
export function findRecordedRevision(
  revisions: readonly ListedRevision[],
  { action, user, timestamp }: Pick<AuditRecordView, 'action' | 'user' | 'timestamp'>,
): ListedRevision | undefined {
  const atMs = timestamp * secondMs;
  const found = revisions.filter(({ at, author }) => {
    const lagMs = atMs - Date.parse(at);
    const isSameUser = !author?.name || author.name === user;
    return author?.operation === action && isSameUser && lagMs > -secondMs && lagMs < maxLagMs;
  });
  return found.length === 1 ? found[0] : undefined;
}

/** Page of the object of a record; undefined where it has none, or was deleted. */
export function findObjectPage({ url, object, method, status }: AuditRecordView): string | undefined {
  if (object === '' || method === 'DELETE' || status >= 400 || !/^[\w.~-]+$/.test(object)) return undefined;
  const kind = objectKinds.find(([path]) => path.test(url))?.[1];
  return kind && objectPages[kind]?.(object);
}
