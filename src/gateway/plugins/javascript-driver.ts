import { readFileSync } from 'node:fs';
import type { Model } from '#definition/model.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import {
  type DriverContext,
  decodeHookBody,
  describeApi,
  findHookDirectory,
  type HookDriver,
  needsSession,
  type PluginHook,
  toRequestReturn,
  toResponseReturn,
} from './driver.ts';
import { createApiHostCall } from './host-functions.ts';
import { decodePluginCode, type PluginScript, readPluginFile } from './plugin-files.ts';
import type { HookResult, PluginSet } from './plugin-runner.ts';
import type { RecordFunction } from './record-contract.ts';
import { encodeRequestCall, encodeResponseCall, parseResult } from './request-hook.ts';
import type { GuestFile } from './sandbox/guest.ts';
import { encodeSession } from './session.ts';
import { selectUnderscore } from './underscore.ts';

const identifier = /^[A-Za-z_$][\w$]*$/;

/** Script with the hook that it defines. */
interface Script extends PluginScript {
  readonly hook: string;
}

/** Drivers `otto` and `javascript`: the hooks and virtual endpoints of an API are one set of scripts in the sandbox. */
export function createJavascriptDriver(context: DriverContext): HookDriver & { readonly set: PluginSet } {
  const { hooks, model, services } = context;
  const listed = Object.values(hooks).flat();
  const scripts = listed.map(hook => readScript(hook, findHookDirectory(context, hook)));
  const set = loadScripts(context, [...scripts, ...readVirtualScripts(context)]);
  const host = createApiHostCall(services, model);
  return {
    set,
    runRequestHook(hook, list, call, body) {
      const session = needsSession(hook, list) ? encodeSession(call) : '';
      const head = encodeRequestCall('request', hook.functionName, call, session);
      const result = set.run({ head, body: decodeHookBody(hook, body) }, host);
      const convert = ({ text, logs }: HookResult) => toRequestReturn(hook, parseResult(text), logs);
      return result instanceof Promise ? result.then(convert) : convert(result);
    },
    runResponseHook(hook, call, response, body) {
      const session = needsSession(hook, 'response') ? encodeSession(call) : '';
      const head = encodeResponseCall(hook.functionName, call, response, session);
      const result = set.run({ head, body: decodeHookBody(hook, body) }, host);
      const convert = ({ text, logs }: HookResult) => toResponseReturn(hook, parseResult(text), logs);
      return result instanceof Promise ? result.then(convert) : convert(result);
    },
  };
}

/** Scripts of virtual endpoints for an API whose hooks another driver runs. */
export const loadVirtualScripts = (context: DriverContext): PluginSet =>
  loadScripts(context, readVirtualScripts(context));

/** Script of the function that changes analytics records. */
export function loadRecordScript(
  { functionName, path, code, directory }: RecordFunction,
  context: ScriptContext,
): PluginSet {
  if (!identifier.test(functionName))
    throw new ApiCompileError(`${JSON.stringify(functionName)} is not the name of a function`);
  const script = code === '' ? readPluginFile(directory, path) : decodePluginCode(code, functionName);
  return loadScripts(context, [{ hook: functionName, ...script }]);
}

function readScript({ functionName: hook, code, path }: PluginHook, directory: string): Script {
  if (!identifier.test(hook)) throw new ApiCompileError(`${JSON.stringify(hook)} is not the name of a plugin object`);
  return { hook, ...(code === '' ? readPluginFile(directory, path) : decodePluginCode(code, hook)) };
}

const readVirtualScripts = ({ version, fileDirectory }: DriverContext): Script[] =>
  version.endpoints.virtualEndpoint.filter(({ enabled }) => enabled).map(it => readVirtual(it, fileDirectory));

type VirtualEndpoint = DriverContext['version']['endpoints']['virtualEndpoint'][number];

function readVirtual({ functionName, mode, source, path }: VirtualEndpoint, directory: string): Script {
  if (!identifier.test(functionName))
    throw new ApiCompileError(
      `${JSON.stringify(functionName)} of the virtual endpoint ${path} is not the name of a function`,
    );
  if (source === '') throw new ApiCompileError(`the virtual endpoint ${path} has no script`);
  const script = mode === 'file' ? readPluginFile(directory, source) : decodePluginCode(source, functionName);
  return { hook: functionName, ...script };
}

/** Parts of a definition that scripts are loaded with. */
type ScriptContext = { readonly model: Pick<Model, 'identity' | 'pluginConfig'> } & Pick<DriverContext, 'services'>;

function loadScripts(context: ScriptContext, scripts: readonly Script[]): PluginSet {
  const { model, services } = context;
  const isIsolated = model.pluginConfig.driver === 'javascript';
  const files = toFiles(scripts, isIsolated);
  const library = services.settings['plugins.library_file'];
  if (library !== '') files.unshift({ name: 'library.js', source: readLibrary(library) });
  const underscore = isIsolated ? undefined : selectUnderscore(files);
  if (underscore) files.unshift(underscore);
  return services.pluginRunner.load({
    owner: model.identity.orgId,
    files,
    hooks: [...new Set(scripts.map(({ hook }) => hook))],
    data: describeApi(context),
  });
}

/** The older style shares one global scope, the newer gives each script a function of its own. */
const toFiles = (scripts: readonly Script[], isIsolated: boolean): GuestFile[] =>
  scripts.map(({ hook, name, source }) => (isIsolated ? { name, source, exports: hook } : { name, source }));

function readLibrary(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ApiCompileError(`the library of plugins cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
