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
  /** Content that did not load, by database id: the same content is not tried and reported again. */
  const refused = new Map<string, string>();
  const marked = new Set<string>();

  /** The API compiled from changed files; undefined where the served one stays. */
  async function recompile({ stored, secretsError }: ApiToCompile, current: Api): Promise<Api | undefined> {
    const model = toModelOfStored(stored);
    const state = readPluginFileState(model, services);
    if (state && refused.get(stored.id) === state.contentHash) return undefined;
    const { services: collecting, sets } = collectSets(services);
    const api = compileApi(model, collecting, { createdAt: stored.created_at, secretsError });
    const reason = api.unavailableReason || (await findLoadFault(sets));
    if (reason === '' || current.unavailableReason !== '') {
      refused.delete(stored.id);
      if (state) states.set(api, state);
      services.log.info({ api: api.id, org: api.orgId }, 'plugin files reloaded');
      return api;
    }
    if (state) refused.set(stored.id, state.contentHash);
    services.log.warn(
      { api: current.id, org: current.orgId, reason },
      'changed plugin file not loaded, the earlier one stays in use',
    );
    return undefined;
  }

  return {
    /** Remembers the files of an API, before it is compiled. */
    read: (model: Api['model']) => readPluginFileState(model, services),
    remember(api: Api, state: PluginFileState | undefined): void {
      refused.delete(api.databaseId);
      if (state) states.set(api, state);
    },
    /** Marks APIs whose files changed; returns their database ids. */
    markChanged({ apis }: Snapshot): string[] {
      for (const api of apis.values()) {
        const state = states.get(api);
        if (state && hasChangedPluginFiles(api.model, services, state)) marked.add(api.databaseId);
      }
      return [...marked];
    },
    /** Database ids of marked APIs, which are then no longer marked. */
    takeMarked(): string[] {
      const taken = [...marked];
      marked.clear();
      return taken;
    },
    recompile,
  };
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
