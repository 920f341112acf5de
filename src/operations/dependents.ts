import { z } from 'zod';
import type { Actor } from './actor.ts';
import { problem } from './problems.ts';

/** Kinds of objects that others depend on. */
export type DependedKind = 'apis' | 'policies' | 'certs' | 'hooks' | 'usergroups';

/** An object that names another one. */
export interface Dependent {
  /** Kind, as in paths. */
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}

/**
 * Refuses to delete an object that others depend on, with their names. `force` true never refuses, false always checks;
 * undefined is decided by the settings. Call it inside the transaction that deletes.
 */
export type RefuseDependents = (
  kind: DependedKind,
  object: { readonly actor: Actor; readonly orgId: string; readonly ref: string },
  force: boolean | undefined,
) => Promise<void>;

/** Problem of a delete that dependents prevent. */
export const dependentsProblem = problem.has_dependents;

/** Query of deletes: whether dependents prevent it. */
export const forceQuery = z.object({
  force: z
    .enum(['true', 'false', '1', '0'])
    .transform(text => text === 'true' || text === '1')
    .optional()
    .describe(
      'false refuses to delete what others depend on, and names them; true deletes it; without it management.delete_requires_force decides',
    ),
});
