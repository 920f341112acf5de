import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import type { Model } from '#definition/model.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { loadModuleFiles } from './lazy-drivers.ts';
import {
  findPluginDirectory,
  findScriptFolder,
  hookFolders,
  listFolderPlugins,
  type PluginScript,
  readPluginFile,
} from './plugin-files.ts';
import type { PluginServices } from './services.ts';

/** Plugin files of an API as they were when it was compiled. */
export interface PluginFileState {
  /** Absolute paths of files and folders. */
  paths: readonly string[];
  /** Times and sizes of the paths: equal ones are not read again. */
  stamp: string;
  readonly contentHash: string;
}

type StateServices = Pick<PluginServices, 'settings' | 'grants'>;

/** State of the plugin files of an API; undefined where it can have none. Files of bundles never change. */
export function readPluginFileState(model: Model, { settings, grants }: StateServices): PluginFileState | undefined {
  const { orgId } = model.identity;
  const directory = findPluginDirectory(settings['plugins.directory'], orgId, grants.isOperator(orgId));
  if (directory === '') return undefined;
  const root = resolve(directory);
  const named = listNamedFiles(model);
  const inFolders = usesBundle(model) ? noFolder : listFolderFiles(root, model);
  if (named.length + inFolders.paths.length === 0) return undefined;
  const hash = createHash('sha256').update(inFolders.faults.join('\n'));
  const paths = new Set(inFolders.paths);
  for (const path of [...named, ...inFolders.files]) {
    const absolute = resolve(root, path);
    if (absolute.startsWith(root + sep)) paths.add(absolute);
    const { files, fault } = readFiles(root, path, model.pluginConfig.driver);
    hash.update(`${fault}\0`);
    for (const { name, source } of files) {
      paths.add(join(root, name));
      hash.update(`${name}\0${source}\0`);
    }
  }
  // Before the content is used: a later change is seen by the next comparison.
  return { paths: [...paths], stamp: stampPaths([...paths]), contentHash: hash.digest('hex') };
}

/** True where the content of a file differs from that of the state, or a file was added or removed. */
export function hasChangedPluginFiles(model: Model, services: StateServices, state: PluginFileState): boolean {
  if (stampPaths(state.paths) === state.stamp) return false;
  const found = readPluginFileState(model, services);
  if (found?.contentHash !== state.contentHash) return true;
  // New folders without scripts: their first script is a change.
  Object.assign(state, found);
  return false;
}

const usesBundle = ({ pluginConfig }: Model): boolean => pluginConfig.bundleEnabled && pluginConfig.bundlePath !== '';

function listNamedFiles(model: Model): string[] {
  const { plugins, custom, trafficLogs, versions } = model;
  const hooks = [...plugins.pre, ...plugins.postAuth, ...plugins.post, ...plugins.response];
  if (custom.enabled) hooks.push(custom);
  const ofEndpoints = versions.flatMap(({ endpoints: { endpointPlugin, virtualEndpoint } }) => [
    ...endpointPlugin.filter(({ code }) => code === '').map(({ file }) => file),
    ...virtualEndpoint.filter(({ mode }) => mode === 'file').map(({ source }) => source),
  ]);
  const ofHooks = usesBundle(model) ? [] : hooks.filter(({ code }) => code === '').map(({ path }) => path);
  const ofRecords = trafficLogs.pluginEnabled && trafficLogs.pluginCode === '' ? [trafficLogs.pluginPath] : [];
  return [...new Set([...ofHooks, ...ofEndpoints, ...ofRecords])].filter(path => path !== '');
}

interface FolderFiles {
  /** The folders, also where they do not exist yet. */
  readonly paths: readonly string[];
  readonly files: readonly string[];
  /** Why a folder cannot be used, which compiling reports. */
  readonly faults: readonly string[];
}

const noFolder: FolderFiles = { paths: [], files: [], faults: [] };

/** Files that run without being named, with their folders. */
function listFolderFiles(root: string, { identity: { id }, pluginConfig: { driver } }: Model): FolderFiles {
  const parent = findScriptFolder(root, id, driver);
  if (parent === undefined) return noFolder;
  // One path for the many APIs without scripts.
  if (stampPaths([parent]) === parent) return { ...noFolder, paths: [parent] };
  const folders = Object.values(hookFolders);
  const faults: string[] = [];
  const files = folders.flatMap(folder => {
    try {
      return listFolderPlugins(root, id, folder, driver).map(({ path }) => path);
    } catch (error) {
      if (!(error instanceof ApiCompileError)) throw error;
      faults.push(error.message);
      return [];
    }
  });
  return { paths: [parent, ...folders.map(folder => join(parent, folder))], files, faults };
}

/** A file with those that it imports; none where it cannot be read, with the fault, which compiling reports. */
function readFiles(root: string, path: string, driver: string): { files: readonly PluginScript[]; fault: string } {
  try {
    const isModule = driver === 'typescript' && path.endsWith('.ts');
    const files = isModule
      ? loadModuleFiles().readModuleFiles(root, path)
      : [{ ...readPluginFile(root, path), name: path }];
    return { files, fault: '' };
  } catch (error) {
    if (error instanceof ApiCompileError) return { files: [], fault: error.message };
    throw error;
  }
}

/** Times and sizes of paths; the path alone where it does not exist. */
const stampPaths = (paths: readonly string[]): string => paths.map(stampPath).join('\n');

function stampPath(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? `${path}\0${found.mtimeMs}\0${found.size}` : path;
  } catch (error) {
    // A path without access differs from the same path with it.
    return `${path}\0${(error as NodeJS.ErrnoException).code}`;
  }
}
