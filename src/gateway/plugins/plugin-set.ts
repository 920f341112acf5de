import type { Model } from '#definition/model.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { ApiHooks, CreateHookDriver, DriverContext, HookDriver, PluginContext, PluginHook } from './driver.ts';
import { createJavascriptDriver, loadVirtualScripts } from './javascript-driver.ts';
import { loadGrpcDriver, loadTypescriptDriver } from './lazy-drivers.ts';
import { findPluginDirectory, hookFolders, listFolderPlugins } from './plugin-files.ts';
import type { PluginSet } from './plugin-runner.ts';
import type { PluginServices } from './services.ts';

/** Hooks of an API with the driver that runs them. */
export interface ApiPlugins {
  readonly hooks: ApiHooks;
  readonly driver: HookDriver;
  /** Scripts of virtual endpoints, which always run in the sandbox; undefined without any. */
  readonly virtualScripts: PluginSet | undefined;
}

type LoadedDriver = Pick<ApiPlugins, 'driver' | 'virtualScripts'>;

/** Drivers by their names in definitions. An API without a driver has JavaScript. */
const drivers: Readonly<Record<string, (context: DriverContext) => LoadedDriver>> = {
  '': loadJavascript,
  otto: loadJavascript,
  javascript: loadJavascript,
  grpc: withVirtualScripts(context => loadGrpcDriver().createGrpcDriver(context)),
  typescript: withVirtualScripts(context => loadTypescriptDriver().createTypescriptDriver(context)),
};

/** The steps of one chain share the plugins. */
const loaded = new WeakMap<object, ApiPlugins | undefined>();

/** Undefined without any plugin. */
export function loadApiPlugins(context: PluginContext): ApiPlugins | undefined {
  const { version } = context;
  if (loaded.has(version)) return loaded.get(version);
  const plugins = createApiPlugins(context);
  loaded.set(version, plugins);
  return plugins;
}

function createApiPlugins(context: PluginContext): ApiPlugins | undefined {
  const { model, version, services } = context;
  const { settings } = services;
  const { orgId } = model.identity;
  const fileDirectory = findPluginDirectory(settings['plugins.directory'], orgId, services.grants.isOperator(orgId));
  const { bundleEnabled } = model.pluginConfig;
  const bundleDirectory = bundleEnabled ? services.pluginBundles.findDirectory(model) : undefined;
  const hooks = collectHooks(context, bundleDirectory === undefined ? fileDirectory : '');
  const hasHooks = Object.values(hooks).some(list => list.length > 0);
  if (!hasHooks && !version.endpoints.virtualEndpoint.some(({ enabled }) => enabled)) return undefined;
  if (!settings['plugins.enabled']) throw new ApiCompileError('plugins are disabled (plugins.enabled)');
  const load = drivers[model.pluginConfig.driver];
  if (!load) throw new ApiCompileError(`plugins of the driver ${model.pluginConfig.driver} are not supported`);
  return { hooks, ...load({ ...context, hooks, directory: bundleDirectory ?? fileDirectory, fileDirectory }) };
}

function collectHooks({ model, version }: PluginContext, directory: string): ApiHooks {
  const { driver } = model.pluginConfig;
  const listFiles = (list: keyof typeof hookFolders): PluginHook[] =>
    listFolderPlugins(directory, model.identity.id, hookFolders[list], driver).map(it => ({
      ...it,
      code: '',
      rawBodyOnly: false,
    }));
  const collect = (list: 'pre' | 'postAuth' | 'post' | 'response'): PluginHook[] => [
    ...model.plugins[list].filter(({ enabled }) => enabled),
    ...(list === 'response' ? [] : listFiles(list)),
  ];
  return {
    pre: collect('pre'),
    postAuth: collect('postAuth'),
    post: collect('post'),
    endpoint: version.endpoints.endpointPlugin.filter(({ enabled }) => enabled).map(toEndpointHook),
    response: collect('response'),
    auth: model.custom.enabled ? [requireAuthHook(model.custom, () => listFiles('auth'))] : [],
  };
}

type EndpointPlugin = PluginContext['version']['endpoints']['endpointPlugin'][number];

/** Hook of an endpoint: it gets the session where the request has one. */
const toEndpointHook = ({ functionName, file: path, code }: EndpointPlugin): PluginHook => ({
  functionName,
  path,
  code,
  requireSession: true,
  rawBodyOnly: false,
});

/** Hook of authentication by plugin: the one that the definition names, else the script in the folder of the API. */
function requireAuthHook(custom: PluginContext['model']['custom'], listFiles: () => PluginHook[]): PluginHook {
  if (custom.pluginEnabled && custom.functionName !== '') return custom;
  const [file, second] = listFiles();
  if (second) throw new ApiCompileError('the folder of the API has several scripts of authentication');
  if (!file) throw new ApiCompileError('authentication by plugin is enabled, and no plugin is named for it');
  return file;
}

function loadJavascript(context: DriverContext): LoadedDriver {
  const driver = createJavascriptDriver(context);
  return { driver, virtualScripts: driver.set };
}

/** Driver of its own kind, beside virtual endpoints in the sandbox. */
function withVirtualScripts(createDriver: CreateHookDriver): (context: DriverContext) => LoadedDriver {
  return context => ({
    driver: createDriver(context),
    virtualScripts: context.version.endpoints.virtualEndpoint.some(({ enabled }) => enabled)
      ? loadVirtualScripts(context)
      : undefined,
  });
}

/** Paths of trusted modules that a definition uses. */
export function listTrustedPaths(
  { identity, pluginConfig, plugins, custom, trafficLogs, versions }: Model,
  services: PluginServices,
): string[] {
  if (pluginConfig.driver !== 'typescript' || !services.grants.isOperator(identity.orgId)) return [];
  const ofEndpoints = versions.flatMap(({ endpoints }) =>
    endpoints.endpointPlugin.map(({ file: path, code }) => ({ path, code })),
  );
  const ofRecords = { path: trafficLogs.pluginPath, code: trafficLogs.pluginCode };
  return [...plugins.pre, ...plugins.postAuth, ...plugins.post, ...plugins.response, ...ofEndpoints, custom, ofRecords]
    .filter(({ path, code }) => code === '' && services.trustedModules.isTrusted(path))
    .map(({ path }) => path);
}
