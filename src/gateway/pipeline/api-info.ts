import type { Model } from '#definition/model.ts';

/** The part of a compiled API that steps read; `routing/api.ts` has the whole of it. */
export interface ApiInfo {
  readonly id: string;
  readonly databaseId: string;
  readonly orgId: string;
  readonly name: string;
  readonly model: Model;
  readonly listenPath: string;
  /** Why its requests get 503; empty when it is served. */
  readonly unavailableReason: string;
}
