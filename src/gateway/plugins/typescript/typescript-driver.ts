import { ApiCompileError } from '../../pipeline/step.ts';
import {
  type DriverContext,
  decodeHookBody,
  describeApi,
  findHookDirectory,
  type HookDriver,
  type HookReturn,
  needsSession,
  type PluginHook,
  type TypedHook,
  toRequestReturn,
  toResponseReturn,
} from '../driver.ts';
import { createApiHostCall } from '../host-functions.ts';
import { decodePluginCode, type PluginScript } from '../plugin-files.ts';
import { PluginError } from '../plugin-runner.ts';
import { encodeRequestCall, encodeResponseCall, parseResult } from '../request-hook.ts';
import type { GuestModuleHook } from '../sandbox/guest.ts';
import { encodeSession } from '../session.ts';
import { createGuestRuntime } from './guest-runtime.ts';
import { compileModules, readModuleFiles } from './module-files.ts';
import { createTrustedHook } from './trusted-hook.ts';

const identifier = /^[A-Za-z_$][\w$]*$/;

/** Driver `typescript`: hooks are exports of modules. Trusted files run in the traffic thread, others in the sandbox. */
export function createTypescriptDriver(context: DriverContext): HookDriver {
  const { model, services } = context;
  const listed = Object.values(context.hooks).flat();
  for (const { functionName } of listed) requireIdentifier(functionName);
  const canTrust = services.grants.isOperator(model.identity.orgId);
  const isTrusted = ({ code, path }: PluginHook) => canTrust && code === '' && services.trustedModules.isTrusted(path);
  const hooks = new Map<PluginHook, TypedHook>();
  for (const hook of listed.filter(isTrusted)) hooks.set(hook, createTrustedHook(hook, context));
  const sandboxed = listed.filter(hook => !isTrusted(hook));
  if (sandboxed.length > 0) for (const [hook, typed] of loadSandboxed(sandboxed, context)) hooks.set(hook, typed);
  return {
    runRequestHook(hook, list, call, body) {
      const result = hooks.get(hook)!.runRequest(list, call, body);
      if (list === 'auth') return result;
      return result instanceof Promise ? result.then(refuseSession) : refuseSession(result);
    },
    runResponseHook: (hook, call, response, body) => hooks.get(hook)!.runResponse(call, response, body),
  };
}

export function requireIdentifier(functionName: string): void {
  if (!identifier.test(functionName))
    throw new ApiCompileError(`${JSON.stringify(functionName)} is not the name of an exported hook`);
}

function refuseSession(result: HookReturn): HookReturn {
  if (result.members.Session === undefined) return result;
  throw new PluginError('runtime', 'a session can be returned by a hook of authentication only', result.logs);
}

/** Loads the modules of an API into the sandbox as one set. */
function loadSandboxed(hooks: readonly PluginHook[], context: DriverContext): Map<PluginHook, TypedHook> {
  const { model, services } = context;
  const modules = new Map<string, PluginScript>();
  const entries = new Map<PluginHook, GuestModuleHook>();
  for (const [index, hook] of hooks.entries()) {
    const files = readHookFiles(hook, index, findHookDirectory(context, hook));
    for (const file of files) if (!modules.has(file.name)) modules.set(file.name, file);
    const [{ name: module }] = files as [PluginScript];
    entries.set(hook, { hook: `${module}#${hook.functionName}`, module, exportName: hook.functionName });
  }
  const set = services.pluginRunner.load({
    owner: model.identity.orgId,
    files: [createGuestRuntime()],
    hooks: [],
    modules: { files: compileModules([...modules.values()]), hooks: [...entries.values()] },
    data: describeApi(context),
  });
  const host = createApiHostCall(services, model);
  return new Map(
    hooks.map((hook): [PluginHook, TypedHook] => {
      const { hook: key } = entries.get(hook)!;
      return [
        hook,
        {
          runRequest(list, call, body) {
            const head = encodeRequestCall('request', key, call, needsSession(hook, list) ? encodeSession(call) : '');
            const result = set.run({ head, body: decodeHookBody(hook, body) }, host);
            return result instanceof Promise
              ? result.then(({ text, logs }) => toRequestReturn(hook, parseResult(text), logs))
              : toRequestReturn(hook, parseResult(result.text), result.logs);
          },
          runResponse(call, response, body) {
            const session = needsSession(hook, 'response') ? encodeSession(call) : '';
            const head = encodeResponseCall(key, call, response, session);
            const result = set.run({ head, body: decodeHookBody(hook, body) }, host);
            return result instanceof Promise
              ? result.then(({ text, logs }) => toResponseReturn(hook, parseResult(text), logs))
              : toResponseReturn(hook, parseResult(result.text), result.logs);
          },
        },
      ];
    }),
  );
}

/** The module of a hook first, then the files that it imports. Code of a definition imports none. */
export function readHookFiles(
  { functionName, code, path }: Pick<PluginHook, 'functionName' | 'code' | 'path'>,
  index: number,
  directory: string,
): PluginScript[] {
  if (code === '') return readModuleFiles(directory, path);
  return [{ name: `inline-${index}/${functionName}.ts`, source: decodePluginCode(code, functionName).source }];
}
