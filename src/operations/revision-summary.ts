import { z } from 'zod';
import { formatIsoTime } from '#base/clock.ts';
import type { ChangeAuthor } from '#storage/operation-context.ts';
import type { RevisionSummary } from '#storage/revision-log.ts';
import { type Actor, hasPermission } from './actor.ts';

const author = z.object({
  id: z.string(),
  name: z.string().describe('Empty without users:read and audit_logs:read; operator for a secret of the installation'),
  surface: z.string(),
  operation: z.string(),
  address: z.string().describe('Empty without audit_logs:read'),
  user_agent: z.string().describe('Empty without audit_logs:read'),
});
export const revisionSummary = z.object({
  revision: z.int(),
  at: z.string(),
  action: z.enum(['created', 'updated', 'deleted', 'found']),
  note: z.string().describe('Note of the author in X-Gw-Change-Note; empty without one'),
  author: author.nullable().describe('null for a state that was stored before the history began'),
});

const operatorSurfaces: ReadonlySet<string> = new Set(['admin', 'gateway']);

/** Author of a revision: its name as users and audit records show it, its client as audit records do. */
function toAuthor(actor: Actor, { id, name, surface, operation: by, address, userAgent }: ChangeAuthor) {
  const shared = { surface, operation: by };
  if (operatorSurfaces.has(surface)) return { id: '', name: 'operator', ...shared, address: '', user_agent: '' };
  const canReadAudit = hasPermission(actor, 'audit_logs:read');
  const canReadName = canReadAudit || id === '' || id === actor.id || hasPermission(actor, 'users:read');
  return {
    id,
    name: canReadName ? name : '',
    ...shared,
    address: canReadAudit ? address : '',
    user_agent: canReadAudit ? userAgent : '',
  };
}

export const toRevisionSummary = (actor: Actor, { revision, atMs, action, author: by }: RevisionSummary) => ({
  revision,
  at: formatIsoTime(atMs),
  action,
  note: by?.note ?? '',
  author: by ? toAuthor(actor, by) : null,
});
