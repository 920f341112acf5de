import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import { KeyValueError, type KeyValues } from '#storage/shared/key-values.ts';
import { type KeyFunctionServices, readKeyData, writeKeyData, writeKeyMetadata } from './key-functions.ts';
import { PluginFault, type PluginFunctionCall, type PluginRpc } from './plugin-rpc.ts';
import { storageFunctions } from './storage-functions.ts';

export interface MainFunctionServices extends KeyFunctionServices {
  readonly keyValues: KeyValues;
  readonly log: Log;
}

/** Runs functions of plugins on the main thread. A refused call is a fault of the script, anything else an error. */
export function createMainFunctions(services: MainFunctionServices): PluginRpc {
  async function run({ name, orgId, apiId, args }: PluginFunctionCall): Promise<unknown> {
    const caller = { orgId, apiId };
    if (name === 'GwGetKeyData') return readKeyData(services, caller, args);
    if (name === 'GwSetKeyData') return writeKeyData(services, caller, args);
    if (name === 'writeKeyMetadata') return writeKeyMetadata(services, caller, args);
    const call = Object.hasOwn(storageFunctions, name) ? storageFunctions[name] : undefined;
    if (!call) throw new PluginFault(`${name} is not available`);
    return call(services.keyValues, orgId, args);
  }

  return {
    async runPluginFunction(call) {
      try {
        return { value: await run(call) };
      } catch (error) {
        if (isFault(error)) return { fault: error.message };
        services.log.error({ err: error, function: call.name, api: call.apiId }, 'plugin function failed');
        return { fault: `${call.name} failed` };
      }
    },
  };
}

const isFault = (error: unknown): error is Error =>
  error instanceof PluginFault || error instanceof KeyValueError || (error instanceof Problem && error.status < 500);
