import type { ApiToCompile, ConfigChange, ConfigReader } from '#apis/config-reader.ts';
import { createTimeSlices } from '#base/time-slices.ts';
import type { Model } from '#definition/model.ts';
import type { StoredGrants } from '#people/organisations/grants.ts';
import { prefetchPolicies } from '../auth/required-policies.ts';
import { listTrustedPaths } from '../plugins/plugin-set.ts';
import type { StepServices } from '../steps/step-services.ts';
import { type Api, compileApi } from './api.ts';
import { listSources, toChangeKey } from './api-index.ts';
import { createPluginFileReload } from './changed-plugin-files.ts';
import { buildNextSnapshot, createEmptySnapshot, findApisFrom, type Snapshot } from './snapshot.ts';
import { toModelOfStored } from './stored-model.ts';

export interface LoaderOptions {
  readonly configReader: ConfigReader;
  readonly services: StepServices;
  /** Invalidates caches of other topics, before the snapshot that includes the changes is in service. */
  readonly onChanges: (changes: readonly ConfigChange[] | undefined) => void;
}

/** Prefetches referenced certificates, policies, plugin bundles and trusted plugins, so that compiling is synchronous. */
export async function prefetchReferences(models: readonly Model[], services: StepServices): Promise<void> {
  const { certificates, keyCache, trustedModules, pluginBundles } = services;
  await certificates.prefetch(models);
  await prefetchPolicies(models, keyCache);
  await pluginBundles.prefetch(models);
  await trustedModules.prefetch([...new Set(models.flatMap(model => listTrustedPaths(model, services)))]);
}

/**
 * Snapshot loader of a thread: reads the changes since its revision, compiles them beside the running snapshot and
 * swaps it in one step.
 */
export function createSnapshotLoader({ configReader, services, onChanges }: LoaderOptions) {
  const rules = { prefix: services.settings['gateway.listen_path_match'] === 'prefix' };
  let current = createEmptySnapshot(rules);
  let loading: Promise<void> | undefined;
  let isReloadRequested = false;
  let loaded = false;
  let isServingBackup = false;
  const outdated = createOutdatedApis();
  const parts = { configReader, services, pluginFiles: createPluginFileReload(services) };

  async function load(): Promise<void> {
    do {
      isReloadRequested = false;
      const { revision, changes } = await configReader.changesSince(current.revision);
      if (loaded && revision === current.revision && outdated.isEmpty()) continue;
      onChanges(loaded ? changes : undefined);
      if (!loaded || !changes || changes.some(({ topic }) => topic === 'organisations'))
        services.grants.replace(await configReader.grants());
      const changed = loaded && changes ? listChangedApis(current, changes) : undefined;
      current = await outdated.compile(async more => {
        if (changed) return compileChanged(current, revision, { changed, ...more }, parts);
        return buildWhole(rules, revision, await compileAll(parts, await configReader.allApis()), services);
      });
      loaded = true;
    } while (isReloadRequested);
  }

  async function refresh(): Promise<number> {
    isReloadRequested = true;
    loading ??= load().finally(() => {
      loading = undefined;
    });
    await loading;
    return current.revision;
  }

  return {
    snapshot: (): Snapshot => current,
    isLoaded: () => loaded || isServingBackup,
    /** Serves the config backup until a refresh succeeds; the first refresh reads everything. */
    async serveBackup(rows: readonly ApiToCompile[], grants: StoredGrants): Promise<void> {
      services.grants.replace(grants);
      current = await buildWhole(rules, 0, await compileAll(parts, rows), services);
      isServingBackup = true;
    },
    /** Resolves when the snapshot includes everything committed before the call. */
    refresh,
    /** Compiles served APIs whose plugin files changed; a broken file leaves its API as it is. */
    reloadPluginFiles(): void {
      outdated.add(parts.pluginFiles.listChanged(current), 'files');
    },
    /** Compiles served APIs again, where something that they use outside the database changed. */
    async recompile(isAffected: (api: Api) => boolean): Promise<void> {
      const affected = [...current.apis.values()].filter(isAffected);
      outdated.add(affected.map(({ databaseId }) => databaseId));
      if (!outdated.isEmpty()) await refresh();
    },
  };
}

/** Database ids of APIs to recompile though the database has no change of them. */
interface Outdated {
  readonly outdated: readonly string[];
  /** Ids among them by changed plugin files: where the new files do not load, the served API stays. */
  readonly changedFiles: readonly string[];
}

function createOutdatedApis() {
  const ids = new Set<string>();
  const ofFiles = new Set<string>();
  function add(more: readonly string[], reason?: 'files'): void {
    for (const id of more) ids.add(id);
    if (reason) for (const id of more) ofFiles.add(id);
  }
  return {
    add,
    isEmpty: () => ids.size === 0,
    /** Compiles all of them. An id stays where the work fails, or where it becomes outdated again meanwhile. */
    async compile<T>(work: (taken: Outdated) => Promise<T>): Promise<T> {
      const taken = { outdated: [...ids], changedFiles: [...ofFiles] };
      ids.clear();
      ofFiles.clear();
      try {
        return await work(taken);
      } catch (error) {
        add(taken.outdated);
        add(taken.changedFiles, 'files');
        throw error;
      }
    },
  };
}

type Rules = Parameters<typeof createEmptySnapshot>[0];

/** APIs that are added to a snapshot at once. */
const maxApisPerPart = 50;

/** Builds a snapshot in parts, beside the one in service: thousands of APIs at once would hold up its requests. */
async function buildWhole(
  rules: Rules,
  revision: number,
  apis: readonly Api[],
  { grants }: StepServices,
): Promise<Snapshot> {
  const slices = createTimeSlices(maxCompileSliceMs);
  let snapshot = buildNextSnapshot(createEmptySnapshot(rules), revision, [], [], grants.heldHosts());
  for (let at = 0; at < apis.length; at += maxApisPerPart) {
    snapshot = buildNextSnapshot(snapshot, revision, apis.slice(at, at + maxApisPerPart), []);
    const pause = slices.pauseIfDue();
    if (pause) await pause;
  }
  return snapshot;
}

/** Contains an unexpected compile error: a bug in one definition's compilation must not stop the others. */
function tryCompile<T>({ log }: StepServices, apiId: string, work: () => T): T[] {
  try {
    return [work()];
  } catch (error) {
    log.error({ err: error, api: apiId }, 'definition not compiled, API not served');
    return [];
  }
}

interface CompileParts extends Pick<LoaderOptions, 'configReader' | 'services'> {
  readonly pluginFiles: ReturnType<typeof createPluginFileReload>;
}

/** Longest time for which compiling holds up the requests of the thread, apart from the compilation of a single API. */
const maxCompileSliceMs = 1;

/** Compiles in time slices, so that requests of the running snapshot are served between them. */
async function compileAll({ services, pluginFiles }: CompileParts, rows: readonly ApiToCompile[]): Promise<Api[]> {
  const slices = createTimeSlices(maxCompileSliceMs);
  async function mapInSlices<T, R>(items: readonly T[], idOf: (item: T) => string, work: (item: T) => R): Promise<R[]> {
    const results: R[] = [];
    for (const item of items) {
      results.push(...tryCompile(services, idOf(item), () => work(item)));
      const pause = slices.pauseIfDue();
      if (pause) await pause;
    }
    return results;
  }
  const read = await mapInSlices(
    rows,
    ({ stored }) => stored.api_id,
    ({ stored, secretsError }) => ({ model: toModelOfStored(stored), createdAt: stored.created_at, secretsError }),
  );
  const models = read.map(({ model }) => model);
  await prefetchReferences(models, services);
  const apis = await mapInSlices(
    read,
    ({ model }) => model.identity.id,
    ({ model, ...facts }) => {
      const state = pluginFiles.read(model);
      const api = compileApi(model, services, facts);
      pluginFiles.remember(api, state);
      return api;
    },
  );
  for (const { id, orgId, unavailableReason } of apis)
    if (unavailableReason !== '')
      services.log.warn({ api: id, org: orgId, reason: unavailableReason }, 'API not served');
  return apis;
}

/** Database ids of changed APIs and of those that depend on a change; undefined for all. */
function listChangedApis(current: Snapshot, changes: readonly ConfigChange[]): string[] | undefined {
  const changed = changes.filter(change => change.topic === 'apis').map(change => change.id);
  if (changed.includes('')) return undefined;
  return [...new Set([...changed, ...findDependents(current, changes)])];
}

/** Database ids of APIs to compile again. */
interface Recompiled extends Outdated {
  /** By a change in the database. */
  readonly changed: readonly string[];
}

/** Next snapshot, with these APIs compiled again, or removed where they are gone. */
async function compileChanged(
  current: Snapshot,
  revision: number,
  { changed, outdated, changedFiles }: Recompiled,
  parts: CompileParts,
): Promise<Snapshot> {
  const { configReader, services, pluginFiles } = parts;
  const ids = [...new Set([...changed, ...outdated])];
  const found = await configReader.apis(ids);
  const presentIds = new Set(found.map(({ stored }) => stored.id));
  const deleted = ids
    .filter(id => !presentIds.has(id))
    .flatMap(id => findApisFrom(current, { topic: 'apis', id }).map(api => api.id));
  // A changed definition replaces what is served, whatever its plugins.
  const isOfFiles = ({ stored: { id } }: ApiToCompile) => changedFiles.includes(id) && !changed.includes(id);
  const apis = await compileAll(
    parts,
    found.filter(row => !isOfFiles(row)),
  );
  const ofFiles = found.filter(isOfFiles);
  const models = ofFiles.flatMap(({ stored }) => current.apis.get(stored.api_id)?.model ?? []);
  await prefetchReferences(models, services);
  apis.push(...(await pluginFiles.recompileAll(ofFiles, current)));
  return buildNextSnapshot(current, revision, apis, deleted, services.grants.heldHosts());
}

/** Topics of objects that APIs are compiled from, beside themselves. */
const referencedTopics: ReadonlySet<string> = new Set(['certificates', 'policies', 'organisations']);

/**
 * Database ids of APIs to recompile because something they reference changed. Only a change of an organisation, or of
 * all objects of a topic, looks at all APIs.
 */
function findDependents(current: Snapshot, changes: readonly ConfigChange[]): string[] {
  const referenced = changes.filter(({ topic }) => referencedTopics.has(topic));
  const isOfMany = ({ topic, id }: ConfigChange) => topic === 'organisations' || id === '';
  const ofMany = referenced.filter(isOfMany);
  const dependents = [
    ...referenced.filter(change => !isOfMany(change)).flatMap(change => findApisFrom(current, change)),
    ...(ofMany.length > 0 ? [...current.apis.values()].filter(api => ofMany.some(it => dependsOn(api, it))) : []),
  ];
  return dependents.map(({ databaseId }) => databaseId);
}

function dependsOn(api: Api, { topic, id }: ConfigChange): boolean {
  if (topic === 'organisations') return id === '' || id === api.orgId;
  const prefix = toChangeKey({ topic, id: '' });
  return [...listSources(api)].some(key => key.startsWith(prefix));
}
