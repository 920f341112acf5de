import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Problem } from '#base/problems.ts';
import type { Model } from '#definition/model.ts';
import type { PipelineServices } from '../../pipeline/services.ts';
import { ApiCompileError } from '../../pipeline/step.ts';
import { hashBundle, isUnpacked, unpackBundle } from './bundle-files.ts';
import { type BundleVersion, buildBundleUrl, downloadBundle } from './bundle-source.ts';
import { type Bundle, BundleError, readBundle } from './manifest.ts';

/** Bundles that one API may name. */
const maxBundlesPerApi = 20;

/** Bundles of plugins (`custom_middleware_bundle`): downloaded, verified and unpacked beside the definitions. */
export interface PluginBundles {
  /** Downloads the bundles of definitions where they changed, so that compiling is synchronous. */
  prefetch(models: readonly Model[]): Promise<void>;
  /** Downloads all bundles in use again; true for models whose bundles changed. */
  refresh(): Promise<(model: Pick<Model, 'identity' | 'pluginConfig'>) => boolean>;
  /** The definition with the hooks of its bundles in place of its own; unchanged where a bundle failed. */
  apply(model: Model): Model;
  /** Directory of the hook files; undefined without bundles. Throws `ApiCompileError` where a bundle failed. */
  findDirectory(model: Pick<Model, 'identity' | 'pluginConfig'>): string | undefined;
  /** True where a bundle of the definition has the plugin of its analytics records. */
  hasRecordPlugin(model: Pick<Model, 'identity' | 'pluginConfig'>): boolean;
}

/** State of a bundle: the hooks that are used, and the last fault. */
interface BundleState {
  readonly orgId: string;
  readonly name: string;
  loaded: { readonly hash: string; readonly bundle: Bundle } | undefined;
  version: BundleVersion | undefined;
  fault: string;
}

type Services = Pick<PipelineServices, 'settings' | 'log' | 'outbound' | 'grants'>;
type BundleUser = Pick<Model, 'identity' | 'pluginConfig'>;

const toKey = (orgId: string, name: string) => `${orgId}\n${name}`;

function listNames({ pluginConfig }: BundleUser): string[] {
  if (!pluginConfig.bundleEnabled) return [];
  return pluginConfig.bundlePath
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '');
}

/** Downloads and states of bundles. One download of a bundle at a time. */
function createBundleStates(services: Services, directoryOf: (orgId: string) => string) {
  const { settings, log } = services;
  const states = new Map<string, BundleState>();
  const pending = new Map<string, Promise<boolean>>();

  const listHashes = (ownerId: string) =>
    new Set([...states.values()].flatMap(({ orgId, loaded }) => (orgId === ownerId && loaded ? [loaded.hash] : [])));

  /** True where the bundle changed, or can be used again. */
  async function update(state: BundleState): Promise<boolean> {
    const { orgId, name } = state;
    try {
      const { archive, version } = await download(services, state);
      const hash =
        archive &&
        accept(state, archive, {
          directory: directoryOf(orgId),
          keyFile: settings['plugins.bundles.public_key_file'],
          hashesInUse: listHashes(orgId),
        });
      const isChanged = hash !== undefined || state.fault !== '';
      if (hash !== undefined) log.info({ org: orgId, bundle: name, hash }, 'plugin bundle loaded');
      state.version = version;
      state.fault = '';
      return isChanged;
    } catch (error) {
      const reason = describeFault(error);
      // A bundle that was loaded stays in use.
      if (reason !== state.fault) log.warn({ org: orgId, bundle: name, reason }, 'plugin bundle not loaded');
      state.fault = reason;
      return false;
    }
  }

  function updateOnce(orgId: string, name: string): Promise<boolean> {
    const key = toKey(orgId, name);
    const state = states.get(key) ?? { orgId, name, loaded: undefined, version: undefined, fault: '' };
    states.set(key, state);
    const running = pending.get(key) ?? update(state).finally(() => pending.delete(key));
    pending.set(key, running);
    return running;
  }

  return { states, update: updateOnce };
}

export function createPluginBundles(services: Services): PluginBundles {
  const root = join(services.settings.data_dir, 'plugin-bundles');
  const directoryOf = (orgId: string) => join(root, encodeURIComponent(orgId));
  const { states, update } = createBundleStates(services, directoryOf);
  const statesOf = (model: BundleUser) => listNames(model).map(name => states.get(toKey(model.identity.orgId, name)));

  return {
    async prefetch(models) {
      const wanted = models.flatMap(model =>
        listNames(model)
          .slice(0, maxBundlesPerApi)
          .map(name => ({ orgId: model.identity.orgId, name })),
      );
      await Promise.all(wanted.map(({ orgId, name }) => update(orgId, name)));
    },
    async refresh() {
      const changed = new Set<string>();
      await Promise.all(
        [...states].map(async ([key, { orgId, name }]) => {
          if (await update(orgId, name)) changed.add(key);
        }),
      );
      return model => listNames(model).some(name => changed.has(toKey(model.identity.orgId, name)));
    },
    apply(model) {
      const used = statesOf(model);
      const loaded = used.flatMap(state => state?.loaded ?? []);
      return used.length === 0 || loaded.length < used.length ? model : replaceHooks(model, loaded);
    },
    findDirectory(model) {
      const names = listNames(model);
      if (names.length === 0) return undefined;
      if (names.length > maxBundlesPerApi) throw new ApiCompileError(`an API has at most ${maxBundlesPerApi} bundles`);
      const used = statesOf(model);
      for (const [i, state] of used.entries())
        if (!state?.loaded) throw new ApiCompileError(`the bundle ${names[i]} is not loaded: ${state?.fault ?? ''}`);
      const fault = findConflict(used.map(state => state!.loaded!.bundle));
      if (fault !== '') throw new ApiCompileError(fault);
      return directoryOf(model.identity.orgId);
    },
    hasRecordPlugin: model => statesOf(model).some(state => state?.loaded?.bundle.recordPlugin),
  };
}

async function download({ settings, outbound, grants }: Services, { orgId, name, loaded, version }: BundleState) {
  const baseUrl = settings['plugins.bundles.base_url'];
  if (baseUrl === '') throw new BundleError('the setting plugins.bundles.base_url is empty');
  const url = buildBundleUrl(baseUrl, grants.isOperator(orgId) ? '' : orgId, name);
  return downloadBundle(outbound, url, loaded && version);
}

interface Acceptance {
  readonly directory: string;
  readonly keyFile: string;
  /** Hashes of the bundles of the organisation that are in use. */
  readonly hashesInUse: ReadonlySet<string>;
}

/** Verifies and unpacks an archive; undefined where it is the one in use. */
function accept(
  state: BundleState,
  archive: Buffer,
  { directory, keyFile, hashesInUse }: Acceptance,
): string | undefined {
  const key = readPublicKey(keyFile);
  const fingerprint = key?.export({ type: 'spki', format: 'pem' }).toString() ?? '';
  const hash = hashBundle(archive, fingerprint);
  if (state.loaded?.hash === hash && isUnpacked(directory, hash)) return undefined;
  const bundle = readBundle(archive, key);
  unpackBundle(directory, hash, bundle.files, hashesInUse);
  // The files are on disk.
  state.loaded = { hash, bundle: { ...bundle, files: new Map() } };
  return hash;
}

function readPublicKey(file: string): KeyObject | undefined {
  if (file === '') return undefined;
  try {
    return createPublicKey(readFileSync(file));
  } catch (error) {
    throw new BundleError(`plugins.bundles.public_key_file cannot be used: ${(error as Error).message}`);
  }
}

function describeFault(error: unknown): string {
  if (error instanceof BundleError || error instanceof Problem) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return `the bundle cannot be unpacked: ${code}`;
}

/** Several bundles of an API have one driver and one hook of authentication together. */
function findConflict(bundles: readonly Bundle[]): string {
  if (new Set(bundles.map(({ driver }) => driver)).size > 1) return 'the bundles of the API have different drivers';
  if (bundles.filter(({ custom }) => custom.functionName !== '').length > 1)
    return 'more than one bundle of the API has a hook of authentication';
  if (bundles.filter(({ recordPlugin }) => recordPlugin).length > 1)
    return 'more than one bundle of the API has a plugin of analytics records';
  return '';
}

type Loaded = NonNullable<BundleState['loaded']>;

/** The hooks of all bundles in order replace those of the definition; paths are below the folder of the bundle. */
function replaceHooks(model: Model, loaded: readonly Loaded[]): Model {
  const place = <T extends { readonly path: string }>({ hash }: Loaded, hook: T): T =>
    hook.path === '' ? hook : { ...hook, path: posix.join(hash, hook.path) };
  const collect = (list: 'pre' | 'postAuth' | 'post' | 'response') =>
    loaded.flatMap(it => it.bundle.plugins[list].map(hook => place(it, hook)));
  const auth = loaded.find(({ bundle }) => bundle.custom.functionName !== '');
  const extractor = loaded.find(({ bundle }) => bundle.idExtractor.enabled);
  const { pluginEnabled, functionName, path, code, rawBodyOnly, requireSession } = auth
    ? place(auth, auth.bundle.custom)
    : loaded[0]!.bundle.custom;
  return {
    ...model,
    trafficLogs: replaceRecordPlugin(model, loaded, place),
    plugins: {
      ...model.plugins,
      pre: collect('pre'),
      postAuth: collect('postAuth'),
      post: collect('post'),
      response: collect('response'),
    },
    custom: { ...model.custom, pluginEnabled, functionName, path, code, rawBodyOnly, requireSession },
    idExtractor: extractor?.bundle.idExtractor ?? loaded[0]!.bundle.idExtractor,
    pluginConfig: { ...model.pluginConfig, driver: loaded[0]!.bundle.driver },
  };
}

type PlaceHook = <T extends { readonly path: string }>(from: Loaded, hook: T) => T;

/** The plugin of records of a bundle, or that of the definition where no bundle has one. */
function replaceRecordPlugin({ trafficLogs }: Model, loaded: readonly Loaded[], place: PlaceHook) {
  const from = loaded.find(({ bundle }) => bundle.recordPlugin);
  if (!from) return trafficLogs;
  const { enabled, functionName, path, code } = place(from, from.bundle.recordPlugin!);
  return {
    ...trafficLogs,
    pluginEnabled: enabled,
    pluginFunction: functionName,
    pluginPath: path,
    pluginCode: code,
  };
}
