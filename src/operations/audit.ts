import type { Actor } from './actor.ts';

/** Audit entry; the store adds the time. */
export interface AuditEntry {
  readonly actor: Actor;
  /** Organisation of the object: the caller's, or the one an operator worked on; empty for none. */
  readonly orgId: string;
  readonly action: string;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly ip: string;
  readonly object: string;
  /** Name of the object when it was written; absent where it was not, or has none. */
  readonly objectName?: string | undefined;
}

export type WriteAudit = (entry: AuditEntry) => Promise<void>;
