import { ApiCompileError } from '../../pipeline/step.ts';
import { describeApi } from '../driver.ts';
import {
  type ApiRecordHook,
  formatRecordHead,
  parseRecordReturns,
  type RecordFunction,
  type RecordHookContext,
  refuseHostCall,
} from '../record-contract.ts';
import { createGuestRuntime } from './guest-runtime.ts';
import { type RecordReturn, runRecordHook, TypedContext } from './hook-objects.ts';
import { compileModules } from './module-files.ts';
import { TrustedHost } from './trusted-hook.ts';
import { describeThrown, limitTime } from './trusted-modules.ts';
import { readHookFiles, requireIdentifier } from './typescript-driver.ts';

/** Driver `typescript`: the hook of records is an export of a module, in the sandbox or of a trusted file. */
export function createTypedRecordHook(record: RecordFunction, context: RecordHookContext): ApiRecordHook {
  requireIdentifier(record.functionName);
  const { model, services } = context;
  const isTrusted =
    record.code === '' &&
    services.grants.isOperator(model.identity.orgId) &&
    services.trustedModules.isTrusted(record.path);
  return isTrusted ? createTrustedRecordHook(record, context) : createSandboxedRecordHook(record, context);
}

function createSandboxedRecordHook(record: RecordFunction, context: RecordHookContext): ApiRecordHook {
  const files = readHookFiles(record, 0, record.directory);
  const [{ name: module }] = files as [(typeof files)[number]];
  const hook = `${module}#${record.functionName}`;
  const set = context.services.pluginRunner.load({
    owner: context.model.identity.orgId,
    files: [createGuestRuntime()],
    hooks: [],
    modules: { files: compileModules(files), hooks: [{ hook, module, exportName: record.functionName }] },
    data: describeApi(context),
  });
  const head = formatRecordHead(hook);
  return {
    async run(records) {
      const { text, logs } = await set.run({ head, body: JSON.stringify(records) }, refuseHostCall);
      return { returns: parseRecordReturns(text, records.length), logs };
    },
  };
}

function createTrustedRecordHook({ functionName, path }: RecordFunction, context: RecordHookContext): ApiRecordHook {
  const { services } = context;
  const run = services.trustedModules.find(path)[functionName];
  if (typeof run !== 'function') throw new ApiCompileError(`the plugin ${path} exports no function ${functionName}`);
  const timeoutMs = services.settings['plugins.timeout_ms'];
  const data = structuredClone(describeApi(context));
  const limit = async (result: RecordReturn | Promise<RecordReturn>): Promise<RecordReturn> => {
    if (!(result instanceof Promise)) return result;
    return limitTime(result, timeoutMs).catch((error: unknown) => ({ fault: describeThrown(error) }));
  };
  return {
    async run(records) {
      const host = new TrustedHost(refuseHostCall, timeoutMs);
      const hookContext = new TypedContext(data, undefined, host);
      const hook = run as Parameters<typeof runRecordHook>[0];
      const results = records.map(record => limit(runRecordHook(hook, record, hookContext, describeThrown)));
      return { returns: await Promise.all(results), logs: host.logs };
    },
  };
}
