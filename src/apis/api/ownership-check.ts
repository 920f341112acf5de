import { type ApiReference, isReferenceTo, namesOverlap } from '#definition/api-references.ts';
import type { HiddenApi } from '../owners/store.ts';
import { problem } from '../problems.ts';
import type { StoredApi } from './schema.ts';

/**
 * Ownership of references: refuses a `gw://` address or version that leads, or could lead, to a hidden API. Versions that
 * the API already has stay: their owners made them.
 */
export function ensureReferencesAllowed(
  references: readonly ApiReference[] = [],
  hidden: readonly HiddenApi[],
  before?: StoredApi,
): void {
  const kept = new Set(Object.values(before?.summary.versions ?? {}));
  for (const reference of references) {
    if (reference.isVersion && kept.has(reference.name)) continue;
    if (!hidden.some(api => isReferenceTo(reference, api))) continue;
    const detail = { path: reference.path };
    throw reference.isOpen ? problem.reference_open({ detail }) : problem.reference_not_owned({ detail });
  }
}

/** Names are not unique, and of several APIs of one name a `gw://` address means the first: a hidden one keeps its name. */
export function ensureNameFree(api: StoredApi, hidden: readonly HiddenApi[]): void {
  const named = nameOf(api);
  if (hidden.some(other => namesOverlap(named, other))) throw problem.name_taken({ detail: { name: named.name } });
}

const nameOf = ({ id, api_id, summary }: StoredApi) => ({ id, api_id, name: summary.name });
