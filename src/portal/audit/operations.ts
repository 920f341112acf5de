import { z } from 'zod';
import type { Log } from '#base/log.ts';
import type { StreamedFile } from '#operations/body.ts';
import { operation } from '#operations/operation.ts';
import { auditExportTypes, createAuditExport } from '#people/audit/export.ts';
import { toAuditFilter } from '#people/audit/filter.ts';
import { AuditLog, auditFilters, toAuditLog } from '#people/audit/schema.ts';
import type { AuditFilter, AuditStore } from '#people/audit/store.ts';
import { problem as peopleProblem } from '#people/problems.ts';
import { applyLimit, portalPageQuery, textUpTo, toPortalPageRequest } from '../shapes.ts';

const declared = { surface: 'portal', noun: 'portal audit', permission: 'secret' } as const;
const filters = z.object({
  ...auditFilters,
  object: textUpTo(300).optional().describe('Id of the object'),
});
const auditFile = z.custom<StreamedFile>(value => value instanceof Object && 'stream' in value);

/** Records of the portal alone: of its administrators, and of forms of its site. */
const toPortalFilter = ({ object, ...rest }: z.output<typeof filters>): AuditFilter => ({
  ...toAuditFilter(rest),
  orgId: '',
  surface: 'portal',
  object: object || undefined,
});

export const listPortalAuditLogs = operation({
  ...declared,
  name: 'listPortalAuditLogs',
  method: 'GET',
  path: '/portal-api/audit-logs',
  about: 'Lists audit records of the portal: changes, and attempts, of administrators and on the site, newest first.',
  query: portalPageQuery.extend(filters.shape),
  returns: z.array(AuditLog),
  async handle({ query }, { audit }: { audit: AuditStore }) {
    const { items } = await audit.page(toPortalFilter(query), toPortalPageRequest(query));
    return applyLimit(items.map(toAuditLog), query);
  },
});

export const exportPortalAuditLogs = operation({
  ...declared,
  name: 'exportPortalAuditLogs',
  method: 'GET',
  path: '/portal-api/audit-logs/export',
  about: 'Returns all audit records of the portal that match the filters as one file, newest first.',
  query: filters.extend({ type: z.enum(['csv', 'json']).default('csv').describe('Format of the file') }),
  returns: auditFile,
  streamsFile: Object.values(auditExportTypes),
  problems: [peopleProblem.audit_export_too_large],
  handle: async ({ query: { type, ...wanted } }, { audit, log }: { audit: AuditStore; log: Log }) =>
    createAuditExport(await audit.export(toPortalFilter(wanted)), { type }, log),
});

export const portalAuditOperations = [listPortalAuditLogs, exportPortalAuditLogs];
