import type { NamedObject } from '#storage/operation-context.ts';
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
  /** The object when it was written; absent where it was not, or has no name. */
  readonly named?: NamedObject | undefined;
}

export type WriteAudit = (entry: AuditEntry) => Promise<void>;
