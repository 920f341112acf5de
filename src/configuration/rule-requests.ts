import { createHash } from 'node:crypto';
import type { Actor } from '#operations/actor.ts';
import type { AuthorizedRequest } from '#operations/run-operation.ts';
import type { FaultList } from './faults.ts';
import type { KindName } from './schema.ts';

export interface ConfigurationRules {
  /** Rejects a request that the rules of the actor's organisation deny. */
  enforceForActor(actor: Actor, request: AuthorizedRequest): Promise<void>;
  /** True where an Open Policy Agent evaluates the rules of an organisation. */
  usesAgent(orgId: string): Promise<boolean>;
}

interface RunObject {
  readonly kind: KindName;
  readonly id: string;
}

export type RuleRequests = ReturnType<typeof createRuleRequests>;

/**
 * Requests of a run to the rules of its organisation. Deferred requests are those to an Open Policy Agent: a transaction
 * that waits for it would block all writers. They are collected in the transaction, which is rolled back, evaluated
 * outside of it, and the transaction runs again.
 */
export function createRuleRequests(
  rules: Pick<ConfigurationRules, 'enforceForActor'>,
  actor: Actor,
  isDeferred = false,
) {
  const allowed = new Set<string>();
  const pending = new Map<string, { readonly request: AuthorizedRequest; readonly object: RunObject }>();
  let current: RunObject | undefined;
  return {
    /** Sets the object of the next requests. */
    startObject(object: RunObject): void {
      current = object;
    },
    async enforce(request: AuthorizedRequest): Promise<void> {
      if (!isDeferred || !current) return rules.enforceForActor(actor, request);
      const digest = hashRequest(request);
      if (!allowed.has(digest)) pending.set(digest, { request, object: current });
    },
    get hasPending(): boolean {
      return pending.size > 0;
    },
    /** Evaluates the collected requests; one that is denied is a fault of its object. */
    async evaluatePending(faults: FaultList, pace: () => Promise<void>): Promise<void> {
      for (const [digest, { request, object }] of pending) {
        await pace();
        if (faults.isAborted) break;
        await faults.attempt(object, async () => {
          await rules.enforceForActor(actor, request);
          allowed.add(digest);
        });
      }
      pending.clear();
    },
  };
}

const hashRequest = ({ operation, method, path, body }: AuthorizedRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([operation, method, path, body]))
    .digest('base64');
