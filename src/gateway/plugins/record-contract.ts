import { isObject } from '#base/json-tree.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import type { Model } from '#definition/model.ts';
import { type HostCall, HostFault, PluginError } from './plugin-runner.ts';
import type { PluginServices } from './services.ts';
import type { HookRecord } from './typescript/contract.ts';
import type { RecordReturn } from './typescript/hook-objects.ts';

/** Changed records in the order of the given ones, and log lines. */
export interface RecordHookResult {
  readonly returns: readonly RecordReturn[];
  readonly logs: readonly string[];
}

/** Hook of the analytics records of an API. A thrown `PluginError` is a failure for all of the records. */
export interface ApiRecordHook {
  run(records: readonly HookRecord[]): MaybePromise<RecordHookResult>;
}

export interface RecordHookContext {
  readonly model: Model;
  readonly services: PluginServices;
}

/** Function of a definition that changes records. */
export interface RecordFunction {
  readonly functionName: string;
  readonly path: string;
  readonly code: string;
  /** Directory of its file. */
  readonly directory: string;
}

/** Host functions that wait would hold up the records behind them. */
export const refuseHostCall: HostCall = async name => {
  throw new HostFault(`${name} is not available in plugins of analytics records`);
};

/** Lines of a call, see `guest-prelude.ts`. */
export const formatRecordHead = (hook: string): string => `records\n${hook}`;

/** Results of a guest, which a script may have tampered with. */
export function parseRecordReturns(text: string, count: number): readonly RecordReturn[] {
  const returns = tryParseJson(text);
  if (returns === undefined) throw new PluginError('runtime', 'the plugin returned no records');
  if (!Array.isArray(returns) || returns.length !== count)
    throw new PluginError('runtime', 'the plugin returned another number of records');
  return returns.map(toRecordReturn);
}

function toRecordReturn(item: unknown): RecordReturn {
  if (!isObject(item)) return { fault: 'the plugin returned no record' };
  if (!Object.hasOwn(item, 'fault')) return { record: item.record };
  return { fault: typeof item.fault === 'string' ? item.fault : 'the plugin failed without a reason' };
}
