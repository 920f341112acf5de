import { policyChangeName } from '#access/policies/topic.ts';
import type { StoredApi } from '#apis/api/schema.ts';
import { fromHookReferences } from '#definition/facets/event-handlers.ts';
import { classicToModel, type Model, oasToModel } from '#definition/model.ts';
import { listReferencedCertificates } from '../auth/certificate-cache.ts';
import { listReferencedPolicies, prefetchPolicies } from '../auth/required-policies.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import type { StoredGrants } from '../pipeline/tenant-grants.ts';
import { type Api, compileApi } from './api.ts';
import type { Change, ReadApi, TrafficStore } from './config-store.ts';
import { emptySnapshot, nextSnapshot, type Snapshot } from './snapshot.ts';

export interface LoaderOptions {
  readonly store: TrafficStore;
  readonly services: StepServices;
  /** Told which objects of other topics changed, before the snapshot that knows of it is in place. */
  readonly onChanges: (changes: readonly Change[] | undefined) => void;
}

export function modelOfStored(stored: StoredApi): Model {
  const model =
    stored.kind === 'classic'
      ? classicToModel(stored.definition)
      : oasToModel(stored.definition as Parameters<typeof oasToModel>[0]);
  const referenced = fromHookReferences(stored.wrapper.hook_references);
  if (referenced.length === 0) return model;
  return { ...model, events: { ...model.events, handlers: [...model.events.handlers, ...referenced] } };
}

/** What definitions name is read before they are compiled, so that compiling waits for nothing. */
export async function prepared(models: readonly Model[], { certificates, keyCache }: StepServices): Promise<void> {
  await certificates.prefetch(models);
  await prefetchPolicies(models, keyCache);
}

/**
 * Keeps the snapshot of a thread up to date. It reads only what changed since the revision it has, compiles that beside the
 * running one, and puts the new one in its place in one step.
 */
export function snapshotLoader({ store, services, onChanges }: LoaderOptions) {
  const rules = { prefix: services.settings['gateway.listen_path_match'] === 'prefix' };
  let current = emptySnapshot(rules);
  let loading: Promise<void> | undefined;
  let again = false;
  let loaded = false;
  let lent = false;

  /** A definition this program cannot compile is a fault of ours; it must not keep the others from being served. */
  function attempt<T>(apiId: string, work: () => T): T[] {
    try {
      return [work()];
    } catch (error) {
      services.log.error({ err: error, api: apiId }, 'a definition could not be compiled');
      return [];
    }
  }

  async function compiled(rows: readonly ReadApi[]): Promise<Api[]> {
    const read = rows.flatMap(({ stored, unopened }) =>
      attempt(stored.api_id, () => ({ model: modelOfStored(stored), createdAt: stored.created_at, unopened })),
    );
    const models = read.map(({ model }) => model);
    await prepared(models, services);
    const apis = read.flatMap(({ model, ...facts }) =>
      attempt(model.identity.id, () => compileApi(model, services, facts)),
    );
    for (const { id, orgId, unavailableReason: unserved } of apis)
      if (unserved !== '') services.log.warn({ api: id, org: orgId, reason: unserved }, 'API not served');
    return apis;
  }

  /** Those that have to be compiled anew although they did not change themselves, by database id. */
  function dependents(changes: readonly Change[]): string[] {
    const changed = (topic: string) => new Set(changes.filter(it => it.topic === topic).map(({ id }) => id));
    const [certificates, policies] = [changed('certificates'), changed('policies')];
    const organisations = changed('organisations');
    if (certificates.size + policies.size + organisations.size === 0) return [];
    const isOf = (ids: ReadonlySet<string>) => (id: string) => ids.has('') || ids.has(id);
    const names = ({ model, orgId }: Api) =>
      (organisations.size > 0 && isOf(organisations)(orgId)) ||
      (certificates.size > 0 && listReferencedCertificates(model).some(isOf(certificates))) ||
      (policies.size > 0 && listReferencedPolicies(model).some(id => isOf(policies)(policyChangeName(orgId, id))));
    return [...current.apis.values()].filter(names).map(api => api.databaseId);
  }

  async function loadAll(revision: number): Promise<void> {
    const apis = await compiled(await store.allApis());
    current = nextSnapshot(emptySnapshot(rules), revision, apis, [], services.grants.heldHosts());
  }

  async function loadChanged(revision: number, changes: readonly Change[]): Promise<void> {
    const own = changes.filter(change => change.topic === 'apis').map(change => change.id);
    if (own.includes('')) return loadAll(revision);
    const ids = [...new Set([...own, ...dependents(changes)])];
    const found = await store.apis(ids);
    const here = new Set(found.map(({ stored }) => stored.id));
    const gone = ids.filter(id => !here.has(id));
    const known =
      gone.length > 0 ? [...current.apis.values()].filter(api => gone.includes(api.databaseId)).map(api => api.id) : [];
    current = nextSnapshot(current, revision, await compiled(found), known, services.grants.heldHosts());
  }

  async function load(): Promise<void> {
    do {
      again = false;
      const { revision, changes } = await store.changesSince(current.revision);
      if (loaded && revision === current.revision) continue;
      onChanges(loaded ? changes : undefined);
      if (!loaded || !changes || changes.some(({ topic }) => topic === 'organisations'))
        services.grants.replace(await store.grants());
      if (loaded && changes) await loadChanged(revision, changes);
      else await loadAll(revision);
      loaded = true;
    } while (again);
  }

  return {
    snapshot: (): Snapshot => current,
    isLoaded: () => loaded || lent,
    /** Serves what was known before the start, until a refresh succeeds: the first one reads everything anew. */
    async serve(known: readonly ReadApi[], grants: StoredGrants): Promise<void> {
      services.grants.replace(grants);
      current = nextSnapshot(emptySnapshot(rules), 0, await compiled(known), [], services.grants.heldHosts());
      lent = true;
    },
    /** Resolves when the snapshot holds at least what was committed before the call. */
    async refresh(): Promise<number> {
      again = true;
      loading ??= load().finally(() => {
        loading = undefined;
      });
      await loading;
      return current.revision;
    },
  };
}
