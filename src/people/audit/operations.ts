import { z } from 'zod';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { pageNumber, toPageRequest } from '#operations/shapes.ts';
import { problem } from '../problems.ts';
import { AuditLog, auditFilters, toAuditLog } from './schema.ts';
import type { AuditFilter, AuditStore } from './store.ts';

interface AuditServices {
  audit: AuditStore;
  settings: Settings;
}

const query = z.object({ p: pageNumber, ...auditFilters });
const params = z.object({ auditLogId: z.string() });
const auditPage = z.object({ audit_logs: z.array(AuditLog), pages: z.int() });
const ofOrganisation = { surface: 'dashboard', noun: 'audit', permission: 'audit_logs:read' } as const;
const ofInstallation = { surface: 'admin', noun: 'audit', permission: 'secret' } as const;

const dayMs = 86_400_000;
const toStartMs = (day: string | undefined) => (day === undefined ? undefined : Date.parse(`${day}T00:00:00Z`));

function toFilter({ user, action, ip, method, status, url, from_date, to_date }: z.output<typeof query>): AuditFilter {
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

async function listRecords({ audit, settings }: AuditServices, filter: AuditFilter, p: number) {
  const { items, pages } = await audit.page(filter, toPageRequest(p, settings['management.page_size']));
  return { audit_logs: items.map(toAuditLog), pages };
}

async function readRecord({ audit }: AuditServices, id: string, orgId?: string) {
  const record = /^\d{1,15}$/.test(id) ? await audit.get(Number(id), orgId) : undefined;
  if (!record) throw problem.audit_log_not_found();
  return toAuditLog(record);
}

export const listAuditLogs = operation({
  ...ofOrganisation,
  name: 'listAuditLogs',
  method: 'GET',
  path: '/api/audit-logs',
  about: 'Lists audit records of changes, and of attempts, in the caller’s organisation, newest first.',
  query,
  returns: auditPage,
  handle: ({ actor, query: filters }, services: AuditServices) =>
    listRecords(services, { ...toFilter(filters), orgId: actor.orgId }, filters.p),
});

export const getAuditLog = operation({
  ...ofOrganisation,
  name: 'getAuditLog',
  method: 'GET',
  path: '/api/audit-logs/{auditLogId}',
  about: 'Returns an audit record of the caller’s organisation.',
  params,
  returns: AuditLog,
  problems: [problem.audit_log_not_found],
  handle: ({ actor, params: { auditLogId } }, services: AuditServices) => readRecord(services, auditLogId, actor.orgId),
});

export const listAllAuditLogs = operation({
  ...ofInstallation,
  name: 'listAllAuditLogs',
  method: 'GET',
  path: '/admin/audit-logs',
  about: 'Lists all audit records: of organisations, of the portal, and of the operator’s secrets.',
  query: query.extend({
    org_id: z
      .string()
      .max(64)
      .optional()
      .describe('Restricts the list to one organisation; empty for records without one'),
  }),
  returns: auditPage,
  handle: ({ query: { org_id, ...filters } }, services: AuditServices) =>
    listRecords(services, { ...toFilter(filters), orgId: org_id }, filters.p),
});

export const getAnyAuditLog = operation({
  ...ofInstallation,
  name: 'getAnyAuditLog',
  method: 'GET',
  path: '/admin/audit-logs/{auditLogId}',
  about: 'Returns any audit record.',
  params,
  returns: AuditLog,
  problems: [problem.audit_log_not_found],
  handle: ({ params: { auditLogId } }, services: AuditServices) => readRecord(services, auditLogId),
});

export const auditOperations = [listAuditLogs, getAuditLog, listAllAuditLogs, getAnyAuditLog];
