import type { GuestFile } from '../sandbox/guest.ts';
import type { HookSession } from './contract.ts';
import {
  collectRequestChanges,
  collectResponseChanges,
  type HookHost,
  hookObjectSources,
  runRecordHook,
  TypedContext,
  TypedRequest,
  TypedResponse,
} from './hook-objects.ts';

/**
 * Runtime of TypeScript hooks in the sandbox: decodes a call (see `runGuest` in `guest-prelude.ts` for its lines), runs
 * the hook and encodes its changes. The functions are passed as text, as those of the prelude are.
 */

type Members = Record<string, unknown>;
type Hook = (...args: readonly unknown[]) => unknown;

/** State of the prelude. */
interface GuestState {
  readonly hooks: Readonly<Record<string, Hook>>;
  readonly config: Members;
  readonly head: string;
}

/** Globals of the prelude as they were before the plugins ran; declared in the runtime. */
declare const hostFunctions: Readonly<Record<string, Hook>>;
declare const writeLine: (text: string) => void;
declare const parseText: typeof JSON.parse;
declare const writeText: typeof JSON.stringify;

function createHost(): HookHost {
  return {
    log: writeLine,
    call(name, args) {
      const call = hostFunctions[name];
      if (!call) throw new Error(`${name} is not available`);
      return call(...args);
    },
  };
}

/** The texts of changes; a promise of them where the hook is asynchronous. */
function continueWith(result: unknown, collect: (result: unknown) => Members): unknown {
  if (typeof result === 'object' && result !== null && typeof (result as Members).then === 'function')
    return (result as Promise<unknown>).then(value => writeText(collect(value)));
  return writeText(collect(result));
}

/** Message of an exception with the file and line of its first frame. */
function describeFault(error: unknown): string {
  const { message, stack } = Object(error) as Members;
  const [, place] = /\(([^():]*:\d+)/.exec(String(stack)) ?? [];
  return (place === undefined ? '' : `${place}: `) + String(message ?? error);
}

/** Runs a hook for every record of a list. */
function runTypedRecords(state: GuestState, hook: Hook, body: string): unknown {
  const context = new TypedContext(state.config, undefined, createHost());
  const records = parseText(body) as unknown[];
  const results = records.map(record => runRecordHook(hook, record, context, describeFault));
  return results.some(it => it instanceof Promise)
    ? Promise.all(results).then(list => writeText(list))
    : writeText(results);
}

/** Request and context of all calls. The image has them, so that a call only sets their texts. */
function createTypedObjects(state: GuestState) {
  const call = { body: '', isResponse: false };
  const list = (isFirst: boolean) => {
    const lines = state.head.split('\n');
    const middle = 11 + 2 * Number(lines[8]);
    return isFirst ? lines.slice(11, middle) : lines.slice(middle, middle + 2 * Number(lines[9]));
  };
  const source = {
    ...{ method: '', scheme: '', url: '', receivedUrl: '' },
    listHeaders: () => list(!call.isResponse),
    listParameters: () => (call.isResponse ? [] : list(false)),
    readBody: () => (call.isResponse ? '' : call.body),
  };
  const responseSource = { listHeaders: () => list(true), listParameters: () => [] };
  const host = createHost();
  return { call, source, responseSource, host, request: new TypedRequest(source) };
}

/** Makes the request object that of a call. */
function setTypedRequest(objects: ReturnType<typeof createTypedObjects>, lines: string[], body: string): TypedRequest {
  const { call, source } = objects;
  const request = objects.request as { -readonly [Name in keyof TypedRequest]: TypedRequest[Name] };
  call.body = body;
  call.isResponse = lines[1] === 'response';
  source.url = lines[4]!;
  request.method = lines[3]!;
  request.url = lines[4]!;
  request.receivedUrl = lines[5]!;
  request.scheme = lines[6]!;
  return objects.request;
}

function prepareTyped(state: GuestState): (lines: string[], body: string) => unknown {
  const objects = createTypedObjects(state);
  const anonymous = new TypedContext(state.config, undefined, objects.host);
  return (lines, body) => {
    const hook = state.hooks[lines[2]!]!;
    if (lines[1] === 'records') return runTypedRecords(state, hook, body);
    const context =
      lines[7] === '' ? anonymous : new TypedContext(state.config, parseText(lines[7]!) as HookSession, objects.host);
    const request = setTypedRequest(objects, lines, body);
    if (!objects.call.isResponse)
      return continueWith(hook(request, context), it => collectRequestChanges(request, context, it));
    const response = new TypedResponse(Number(lines[10]), objects.responseSource, () => body);
    return continueWith(hook(response, request, context), it => collectResponseChanges(response, it));
  };
}

const hostFunctionNames = ['GwMakeHttpRequest', ...['Get', 'Set', 'SetNX', 'Del', 'Incr'].map(it => `GwStorage${it}`)];

const runtimeFunctions = [
  ...[createHost, continueWith, describeFault, runTypedRecords],
  ...[createTypedObjects, setTypedRequest, prepareTyped],
];

/** Script that installs the runtime, before the modules of plugins. */
export const createGuestRuntime = (): GuestFile => ({
  name: 'prelude.js',
  source: `__gwUse((function () { const { parse: parseJson, stringify: writeJson } = JSON, parseText = parseJson,
writeText = writeJson, writeLine = log, hostFunctions = { ${hostFunctionNames.join(', ')} };
${[...hookObjectSources, ...runtimeFunctions].map(String).join('\n')}
return prepareTyped; })());`,
});
