import { ApiCompileError } from '../pipeline/step.ts';
import { loadRecordScript } from './javascript-driver.ts';
import { loadTypedRecordHook } from './lazy-drivers.ts';
import { findPluginDirectory } from './plugin-files.ts';
import {
  type ApiRecordHook,
  formatRecordHead,
  parseRecordReturns,
  type RecordFunction,
  type RecordHookContext,
  refuseHostCall,
} from './record-contract.ts';

type CreateRecordHook = (record: RecordFunction, context: RecordHookContext) => ApiRecordHook;

const drivers: Readonly<Record<string, CreateRecordHook>> = {
  '': createScriptHook,
  otto: createScriptHook,
  javascript: createScriptHook,
  typescript: (record, context) => loadTypedRecordHook().createTypedRecordHook(record, context),
};

/** Hook of the analytics records of an API; undefined without one. */
export function createRecordHook(context: RecordHookContext): ApiRecordHook | undefined {
  const { model, services } = context;
  const {
    enabled,
    pluginEnabled,
    pluginFunction: functionName,
    pluginPath: path,
    pluginCode: code,
  } = model.trafficLogs;
  if (!enabled || !pluginEnabled) return undefined;
  const { settings, grants, pluginBundles } = services;
  if (!settings['plugins.enabled']) throw new ApiCompileError('plugins are disabled (plugins.enabled)');
  const create = drivers[model.pluginConfig.driver];
  if (!create)
    throw new ApiCompileError(
      `plugins of analytics records are not supported with the driver ${model.pluginConfig.driver}`,
    );
  if (functionName === '') throw new ApiCompileError('the plugin of analytics records has no function');
  if (code === '' && path === '')
    throw new ApiCompileError('the plugin of analytics records has neither file nor code');
  const { orgId } = model.identity;
  const own = findPluginDirectory(settings['plugins.directory'], orgId, grants.isOperator(orgId));
  const directory = pluginBundles.hasRecordPlugin(model) ? (pluginBundles.findDirectory(model) ?? own) : own;
  return create({ functionName, path, code, directory }, context);
}

/** Drivers `otto` and `javascript`: a function of a script in the sandbox. */
function createScriptHook(record: RecordFunction, context: RecordHookContext): ApiRecordHook {
  const set = loadRecordScript(record, context);
  const head = formatRecordHead(record.functionName);
  return {
    async run(records) {
      const { text, logs } = await set.run({ head, body: JSON.stringify(records) }, refuseHostCall);
      return { returns: parseRecordReturns(text, records.length), logs };
    },
  };
}
