import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import type { Model } from '#definition/model.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { loadModuleFiles } from './lazy-drivers.ts';
import { findPluginDirectory, readPluginFile } from './plugin-files.ts';
import type { PluginServices } from './services.ts';

/** Plugin files of an API as they were when it was compiled. */
export interface PluginFileState {
  /** Absolute paths of files and folders. */
  readonly paths: readonly string[];
  /** Times and sizes of the paths: equal ones are not read again. */
  stamp: string;
  readonly contentHash: string;
}

type StateServices = Pick<PluginServices, 'settings' | 'grants'>;

const folders = ['pre', 'post_auth', 'post'];

/** State of the plugin files of an API; undefined without any. Files of bundles never change. */
export function readPluginFileState(model: Model, { settings, grants }: StateServices): PluginFileState | undefined {
  const { id, orgId } = model.identity;
  const directory = findPluginDirectory(settings['plugins.directory'], orgId, grants.isOperator(orgId));
  if (directory === '') return undefined;
  const root = resolve(directory);
  const named = listNamedFiles(model);
  const inFolders = listFolderFiles(root, id);
  if (named.length + inFolders.paths.length === 0) return undefined;
  const hash = createHash('sha256');
  const paths = new Set(inFolders.paths);
  for (const path of [...named, ...inFolders.files]) {
    const absolute = resolve(root, path);
    if (absolute.startsWith(root + sep)) paths.add(absolute);
    for (const { name, source } of readFiles(root, path, model.pluginConfig.driver)) {
      paths.add(join(root, name));
      hash.update(`${name}\0${source}\0`);
    }
  }
  // Before the content is used: a later change is seen by the next comparison.
  return { paths: [...paths], stamp: stampPaths([...paths]), contentHash: hash.digest('hex') };
}

/** True where the content of a file differs from that of the state, or a file was added or removed. */
export function hasChangedPluginFiles(model: Model, services: StateServices, state: PluginFileState): boolean {
  const stamp = stampPaths(state.paths);
  if (stamp === state.stamp) return false;
  if (readPluginFileState(model, services)?.contentHash !== state.contentHash) return true;
  state.stamp = stamp;
  return false;
}

function listNamedFiles({ plugins, custom, pluginConfig, trafficLogs, versions }: Model): string[] {
  const usesBundle = pluginConfig.bundleEnabled && pluginConfig.bundlePath !== '';
  const hooks = [...plugins.pre, ...plugins.postAuth, ...plugins.post, ...plugins.response];
  if (custom.enabled) hooks.push(custom);
  const ofEndpoints = versions.flatMap(({ endpoints: { endpointPlugin, virtualEndpoint } }) => [
    ...endpointPlugin.filter(({ code }) => code === '').map(({ file }) => file),
    ...virtualEndpoint.filter(({ mode }) => mode === 'file').map(({ source }) => source),
  ]);
  const ofHooks = usesBundle ? [] : hooks.filter(({ code }) => code === '').map(({ path }) => path);
  const ofRecords = trafficLogs.pluginEnabled && trafficLogs.pluginCode === '' ? [trafficLogs.pluginPath] : [];
  return [...new Set([...ofHooks, ...ofEndpoints, ...ofRecords])].filter(path => path !== '');
}

/** Files that run without being named, with their folders. */
function listFolderFiles(root: string, apiId: string): { paths: string[]; files: string[] } {
  if (!/^[\w.-]+$/.test(apiId) || /^\.+$/.test(apiId)) return { paths: [], files: [] };
  const found = folders.flatMap(folder => {
    const path = join(root, apiId, folder);
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    return isFolder ? [{ folder, names: readdirSync(path).sort() }] : [];
  });
  return {
    paths: found.map(({ folder }) => join(root, apiId, folder)),
    files: found.flatMap(({ folder, names }) => names.map(name => join(apiId, folder, name))),
  };
}

/** A file with those that it imports; none where it cannot be read, which compiling reports. */
function readFiles(root: string, path: string, driver: string) {
  try {
    if (driver === 'typescript' && path.endsWith('.ts')) return loadModuleFiles().readModuleFiles(root, path);
    return [{ ...readPluginFile(root, path), name: path }];
  } catch (error) {
    if (error instanceof ApiCompileError) return [];
    throw error;
  }
}

const stampPaths = (paths: readonly string[]): string =>
  paths
    .map(path => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? `${path}\0${found.mtimeMs}\0${found.size}` : path;
    })
    .join('\n');
