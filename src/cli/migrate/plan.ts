import type { Document } from '../documents.ts';

/** Plan of a migration: what the files of another product become here. Pure data; nothing is written yet. */

/** Kinds in the order in which they are written: each may reference those before it. */
export const plannedKinds = ['certificate', 'API', 'policy', 'OAuth client', 'key'] as const;
export type PlannedKind = (typeof plannedKinds)[number];

export interface PlannedObject {
  readonly kind: PlannedKind;
  /** Id under which it is written; of a key, the key itself. */
  readonly id: string;
  /** File, and the place in it. */
  readonly source: string;
  /** Definition, policy, key or client; the PEM text of a certificate. */
  readonly body: Document | string;
  /** Differences in meaning. */
  readonly notes: readonly string[];
}

/** Part of a file that is not moved. */
export interface LeftOut {
  readonly source: string;
  readonly what: string;
  readonly reason: string;
}

export interface MigrationPlan {
  readonly objects: readonly PlannedObject[];
  readonly leftOut: readonly LeftOut[];
  /** Names of organisations, by id. */
  readonly organisations: ReadonlyMap<string, string>;
}

/** Plan that is being built. */
export interface PlanBuilder {
  add(object: PlannedObject): void;
  leaveOut(source: string, what: string, reason: string): void;
  nameOrganisation(id: string, name: string): void;
  build(): MigrationPlan;
}

export function createMigrationPlan(): PlanBuilder {
  const objects = new Map<string, PlannedObject>();
  const leftOut: LeftOut[] = [];
  const organisations = new Map<string, string>();
  return {
    add(object) {
      const id = `${object.kind} ${object.id}`;
      const earlier = objects.get(id);
      if (!earlier) objects.set(id, object);
      else if (JSON.stringify(earlier.body) !== JSON.stringify(object.body))
        leftOut.push({ source: object.source, what: object.kind, reason: `its id is that of ${earlier.source}` });
    },
    leaveOut(source, what, reason) {
      leftOut.push({ source, what, reason });
    },
    nameOrganisation(id, name) {
      organisations.set(id, name);
    },
    build: () => ({ objects: [...objects.values()], leftOut, organisations }),
  };
}
