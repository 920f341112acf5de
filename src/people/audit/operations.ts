import { z } from 'zod';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor } from '#operations/actor.ts';
import type { StreamedFile } from '#operations/body.ts';
import { operation } from '#operations/operation.ts';
import { pageNumber, toPageRequest } from '#operations/shapes.ts';
import { problem } from '../problems.ts';
import { auditExportTypes, createAuditExport, type ExportType } from './export.ts';
import { toAuditFilter } from './filter.ts';
import { createNameLimit, type LimitVisibleObjects } from './limit-names.ts';
import { AuditLog, auditFilters, toAuditLog } from './schema.ts';
import type { AuditFilter, AuditStore } from './store.ts';

interface AuditServices {
  audit: AuditStore;
  settings: Settings;
  limitVisibleObjects: LimitVisibleObjects;
}

interface AuditExportServices {
  audit: AuditStore;
  log: Log;
  limitVisibleObjects: LimitVisibleObjects;
}

const maxPageSize = 100;
const query = z.object({
  p: pageNumber,
  page_size: z.coerce
    .number()
    .int()
    .min(1)
    .max(maxPageSize)
    .optional()
    .describe(`Records of a page, ${maxPageSize} at most; by default those of \`management.page_size\``),
  ...auditFilters,
});
type Paging = Pick<z.output<typeof query>, 'p' | 'page_size'>;
const organisationFilter = z
  .string()
  .max(64)
  .optional()
  .describe('Restricts the list to one organisation; empty for records without one');
const params = z.object({ auditLogId: z.string() });
const { p: _page, page_size: _size, ...exportFilters } = query.shape;
const exportQuery = z.object({
  type: z.enum(['csv', 'json']).default('csv').describe('Format of the file'),
  ...exportFilters,
});
const auditFile = z.custom<StreamedFile>(value => value instanceof Object && 'stream' in value);
const auditPage = z.object({ audit_logs: z.array(AuditLog), pages: z.int() });
const ofOrganisation = { surface: 'dashboard', noun: 'audit', permission: 'audit_logs:read' } as const;
const ofInstallation = { surface: 'admin', noun: 'audit', permission: 'secret' } as const;

async function listRecords(services: AuditServices, actor: Actor, filter: AuditFilter, { p, page_size }: Paging) {
  const { audit, settings, limitVisibleObjects } = services;
  const size = page_size ?? settings['management.page_size'];
  const { items, pages } = await audit.page(filter, toPageRequest(p, size));
  const limitNames = await createNameLimit(limitVisibleObjects, actor);
  return { audit_logs: (await limitNames(items)).map(toAuditLog), pages };
}

async function readRecord({ audit, limitVisibleObjects }: AuditServices, actor: Actor, id: string, orgId?: string) {
  const record = /^\d{1,15}$/.test(id) ? await audit.get(Number(id), orgId) : undefined;
  if (!record) throw problem.audit_log_not_found();
  const limitNames = await createNameLimit(limitVisibleObjects, actor);
  return toAuditLog((await limitNames([record]))[0]!);
}

async function exportRecords(
  { audit, log, limitVisibleObjects }: AuditExportServices,
  actor: Actor,
  filter: AuditFilter,
  type: ExportType,
) {
  const limitNames = await createNameLimit(limitVisibleObjects, actor);
  return createAuditExport(await audit.export(filter), { type, limitNames }, log);
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
    listRecords(services, actor, { ...toAuditFilter(filters), orgId: actor.orgId }, filters),
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
  handle: ({ actor, params: { auditLogId } }, services: AuditServices) =>
    readRecord(services, actor, auditLogId, actor.orgId),
});

export const exportAuditLogs = operation({
  ...ofOrganisation,
  name: 'exportAuditLogs',
  method: 'GET',
  path: '/api/audit-logs/export',
  about: 'Returns all audit records of the caller’s organisation that match the filters as one file, newest first.',
  query: exportQuery,
  returns: auditFile,
  streamsFile: Object.values(auditExportTypes),
  problems: [problem.audit_export_too_large],
  handle: ({ actor, query: { type, ...filters } }, services: AuditExportServices) =>
    exportRecords(services, actor, { ...toAuditFilter(filters), orgId: actor.orgId }, type),
});

export const exportAllAuditLogs = operation({
  ...ofInstallation,
  name: 'exportAllAuditLogs',
  method: 'GET',
  path: '/admin/audit-logs/export',
  about: 'Returns all audit records of the installation that match the filters as one file, newest first.',
  query: exportQuery.extend({ org_id: organisationFilter }),
  returns: auditFile,
  streamsFile: Object.values(auditExportTypes),
  problems: [problem.audit_export_too_large],
  handle: ({ actor, query: { type, org_id, ...filters } }, services: AuditExportServices) =>
    exportRecords(services, actor, { ...toAuditFilter(filters), orgId: org_id }, type),
});

export const listAllAuditLogs = operation({
  ...ofInstallation,
  name: 'listAllAuditLogs',
  method: 'GET',
  path: '/admin/audit-logs',
  about: 'Lists all audit records: of organisations, of the portal, and of the operator’s secrets.',
  query: query.extend({ org_id: organisationFilter }),
  returns: auditPage,
  handle: ({ actor, query: { org_id, ...filters } }, services: AuditServices) =>
    listRecords(services, actor, { ...toAuditFilter(filters), orgId: org_id }, filters),
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
  handle: ({ actor, params: { auditLogId } }, services: AuditServices) => readRecord(services, actor, auditLogId),
});

export const auditOperations = [
  listAuditLogs,
  exportAuditLogs,
  getAuditLog,
  listAllAuditLogs,
  exportAllAuditLogs,
  getAnyAuditLog,
];
