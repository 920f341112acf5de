import type { Log } from '#base/log.ts';
import type { WriteAudit } from '#operations/audit.ts';
import type { RejectedCredential } from '#operations/auth-failure-limit.ts';
import type { AuditStore } from './store.ts';

/** Writes audit records; one that cannot be written is logged, and the operation it is about goes on. */
export const createAuditWriter =
  (audit: AuditStore, log: Log): WriteAudit =>
  entry =>
    audit.write(entry).catch(err => log.error({ err }, 'audit record lost'));

/** Logs and audits wrong credentials; the caller bounds how often. */
export function createRejectionReport(writeAudit: WriteAudit, log: Log) {
  return ({ surface, address: ip, method, path: url, failures }: RejectedCredential): void => {
    log.warn({ surface, address: ip, method, path: url, failures }, 'credential rejected');
    const actor = { surface, id: '', name: '', orgId: '', permissions: {} };
    void writeAudit({ actor, orgId: '', action: 'authenticate', method, url, status: 401, ip, object: '' });
  };
}
