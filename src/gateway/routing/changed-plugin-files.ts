import type { ApiToCompile } from '#apis/config-reader.ts';
import { hasChangedPluginFiles, type PluginFileState, readPluginFileState } from '../plugins/plugin-file-state.ts';
import { PluginError, type PluginSet } from '../plugins/plugin-runner.ts';
import type { StepServices } from '../steps/step-services.ts';
import { type Api, compileApi } from './api.ts';
import type { Snapshot } from './snapshot.ts';
import { toModelOfStored } from './stored-model.ts';

/** Plugin files of served APIs: a changed file is loaded again on reload, and a broken one leaves the API as it is. */
export function createPluginFileReload(services: StepServices) {
  const states = new WeakMap<Api, PluginFileState>();
  /** False until a served API has plugin files: every change of the configuration looks for changed ones. */
  let hasFiles = false;
  /** Content that did not load, by the API that stays served: the same content is not tried and reported again. */
  const refused = new WeakMap<Api, string>();
  const { log } = services;

  /** The API compiled from changed files; undefined where the served one stays. */
  async function recompile({ stored, secretsError }: ApiToCompile, current: Api): Promise<Api | undefined> {
    const model = toModelOfStored(stored);
    const state = readPluginFileState(model, services);
    if (state && refused.get(current) === state.contentHash) return undefined;
    const { services: collecting, sets } = collectSets(services);
    const api = compileApi(model, collecting, { createdAt: stored.created_at, secretsError });
    const reason = api.unavailableReason || (await findLoadFault(sets));
    const facts = { api: api.id, org: api.orgId };
    if (reason !== '' && current.unavailableReason === '') {
      if (state) refused.set(current, state.contentHash);
      log.warn({ ...facts, reason }, 'changed plugin file not loaded, the earlier one stays in use');
      return undefined;
    }
    if (state) states.set(api, state);
    if (api.unavailableReason !== '') log.warn({ ...facts, reason }, 'API not served');
    else if (reason !== '') log.warn({ ...facts, reason }, 'changed plugin file not loaded');
    else log.info(facts, 'plugin files reloaded');
    return api;
  }

  return {
    /** Remembers the files of an API, before it is compiled. */
    read: (model: Api['model']) => readPluginFileState(model, services),
    remember(api: Api, state: PluginFileState | undefined): void {
      if (!state) return;
      states.set(api, state);
      hasFiles = true;
    },
    /** Database ids of APIs whose files changed. */
    listChanged: ({ apis }: Snapshot): string[] =>
      hasFiles
        ? [...apis.values()].filter(it => hasChanged(it, states.get(it), services)).map(it => it.databaseId)
        : [],
    /** Compiles the APIs of these rows from changed files; returns those that replace the served ones. */
    async recompileAll(rows: readonly ApiToCompile[], { apis }: Snapshot): Promise<Api[]> {
      const compiled: Api[] = [];
      for (const row of rows) {
        const served = apis.get(row.stored.api_id);
        try {
          const api = served && (await recompile(row, served));
          if (api) compiled.push(api);
        } catch (error) {
          // A bug in one definition's compilation must not stop the others.
          const { api_id: api, org_id: org } = row.stored;
          log.error({ err: error, api, org }, 'changed plugin files not compiled, the earlier ones stay in use');
        }
      }
      return compiled;
    },
  };
}

function hasChanged({ id, orgId, model }: Api, state: PluginFileState | undefined, services: StepServices): boolean {
  try {
    return state !== undefined && hasChangedPluginFiles(model, services, state);
  } catch (error) {
    // A fault of the files of one API must not stop the refresh of the others.
    services.log.error({ err: error, api: id, org: orgId }, 'plugin files not read, the earlier ones stay in use');
    return false;
  }
}

/** Services whose script sets are collected. */
function collectSets(services: StepServices): { services: StepServices; sets: PluginSet[] } {
  const sets: PluginSet[] = [];
  const { pluginRunner } = services;
  const collecting = {
    ...pluginRunner,
    load(given: Parameters<typeof pluginRunner.load>[0]) {
      const set = pluginRunner.load(given);
      sets.push(set);
      return set;
    },
  };
  return { services: { ...services, pluginRunner: collecting }, sets };
}

/** Empty, or why a script does not load. */
async function findLoadFault(sets: readonly PluginSet[]): Promise<string> {
  try {
    await Promise.all(sets.map(set => set.check()));
    return '';
  } catch (error) {
    // A busy pool says nothing about the scripts.
    if (error instanceof PluginError) return error.type === 'overload' ? '' : error.message;
    throw error;
  }
}
