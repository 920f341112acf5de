import { Problem, truncateText } from '#base/problems.ts';
import { formatValidationError, listValidationErrors } from '#operations/validation-error.ts';
import { problem } from './problems.ts';
import type { Fault, KindName } from './schema.ts';

/** Faults that a response lists; one more ends the run. */
const maxFaults = 1000;
/** Faults in the message of the problem. */
const maxFaultsInMessage = 20;
const maxMessageCharacters = 500;

type FaultyObject = { readonly kind: KindName; readonly id: string };

/** Collects the faults of a run, so that all are reported at once. */
export function createFaultList() {
  const faults: Fault[] = [];
  let isAborted = false;
  return {
    get isEmpty() {
      return faults.length === 0;
    },
    /** True where checking the other objects is pointless. */
    get isAborted() {
      return isAborted || faults.length >= maxFaults;
    },
    add({ kind, id }: FaultyObject, path: string, message: string): void {
      if (faults.length < maxFaults)
        faults.push({ kind, id, path, message: truncateText(message, maxMessageCharacters) });
    },
    /** Runs a step of one object; its problem becomes faults. An error that is none of the request is thrown. */
    async attempt<T>(object: FaultyObject, work: () => T | Promise<T>): Promise<T | undefined> {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Problem) || error.status >= 500) throw error;
        // PostgreSQL refuses every further statement after a failed one.
        isAborted ||= error.cause !== undefined;
        const errors = listValidationErrors(error);
        if (!errors) this.add(object, '', error.message);
        for (const { path, message } of errors ?? []) this.add(object, toSpecPath(path), message);
        return undefined;
      }
    },
    throwIfAny(): void {
      if (faults.length > 0) throw createFaultProblem(faults);
    },
  };
}

export type FaultList = ReturnType<typeof createFaultList>;

/** Checks report paths below the spec, except those of the id. */
const toSpecPath = (path: string) =>
  path === 'id' ? path : path.startsWith('[') ? `spec${path}` : ['spec', path].filter(Boolean).join('.');

function createFaultProblem(faults: readonly Fault[]): Problem {
  const lines = faults
    .slice(0, maxFaultsInMessage)
    .map(({ kind, id, path, message }) => `${kind} ${id}: ${formatValidationError({ path, message })}`);
  if (faults.length > lines.length) lines.push(`and ${faults.length - lines.length} more`);
  return problem.objects_invalid({ detail: { faults: lines.join('; '), members: { Meta: { faults } } } });
}
