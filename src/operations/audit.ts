import type { Actor } from './actor.ts';

/** Who did what to which object, from where, and how it ended. When is added by whoever keeps it. */
export interface AuditEntry {
  readonly actor: Actor;
  /** Whose object it was: the caller's organisation, or the one an operator worked on; empty for none. */
  readonly orgId: string;
  readonly action: string;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly ip: string;
  readonly object: string;
}

export type WriteAudit = (entry: AuditEntry) => Promise<void>;
