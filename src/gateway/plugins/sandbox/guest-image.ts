import {
  type GuestFault,
  type GuestFile,
  type GuestImage,
  GuestLoadError,
  type GuestModuleHook,
  type GuestSet,
  type SandboxLimits,
} from './guest.ts';
import { createPreludeSource } from './guest-prelude.ts';
import { argsBytes, bufferBytes, evaluate, readFault, settlePromise, writeText } from './guest-values.ts';
import { captureMemory } from './memory-image.ts';
import type { QuickJsExports } from './quickjs-module.ts';

/** Native allocations beside the memory limit of the guest. */
const spareBytes = 1_048_576;
const maxStackBytes = 262_144;
/** All built-in objects of QuickJS but `performance`. */
const intrinsics = 0xffff_ffff & ~1024;

/** Initialises a new instance and its prelude; returns the function that runs hooks. */
export function startGuest(guest: QuickJsExports, limits: SandboxLimits): number {
  guest._initialize();
  if (guest.qjs_init2(intrinsics) !== 0) throw new Error('QuickJS did not start');
  guest.qjs_set_memory_limit(limits.maxMemoryBytes);
  guest.qjs_set_max_stack_size(maxStackBytes);
  guest.qjs_set_interrupt_handler(1);
  guest.qjs_set_module_loader(1);
  const name = writeText(guest, 'host');
  const host = guest.qjs_new_host_function(name, 4, 2);
  guest.wasm_free(name);
  const install = evaluate(guest, createPreludeSource(), 'prelude.js');
  const args = guest.wasm_malloc(argsBytes);
  new DataView(guest.memory.buffer).setUint32(args, host, true);
  const run = guest.qjs_call(install, guest.qjs_get_undefined(), 1, args);
  guest.wasm_free(args);
  if (guest.qjs_is_exception(run) !== 0) throw new Error(`the sandbox prelude failed: ${readFault(guest).message}`);
  return run;
}

/** Runs the scripts and hands over their hooks; the first fault, undefined when all ran. */
export function evaluateFiles(guest: QuickJsExports, { files, hooks, modules }: GuestSet): GuestFault | undefined {
  for (const { name, source, exports } of [...files, registerHooks(hooks)]) {
    const value = evaluate(guest, exports === undefined ? source : wrapScript(source, exports), name);
    if (guest.qjs_is_exception(value) !== 0) return readFault(guest);
    guest.qjs_free_value(value);
  }
  return modules && evaluateModules(guest, modules.hooks);
}

/** Imports the modules and hands over their hooks. */
function evaluateModules(guest: QuickJsExports, hooks: readonly GuestModuleHook[]): GuestFault | undefined {
  const lines = hooks.map(
    ({ hook, module, exportName }, i) =>
      `import { ${exportName} as hook${i} } from ${JSON.stringify(module)}; ` +
      `if (typeof hook${i} !== 'function') throw new TypeError(${JSON.stringify(`${hook} is not a function`)}); ` +
      `__gwRegister(${JSON.stringify(hook)}, hook${i});`,
  );
  const value = evaluate(guest, lines.join(' '), 'prelude.js', true);
  if (guest.qjs_is_exception(value) !== 0) return readFault(guest);
  const result = settlePromise(guest, value);
  if (result === undefined)
    return { type: 'runtime', message: 'a module waits for a promise that never settles', at: '' };
  return guest.qjs_is_exception(result) === 0 ? undefined : readFault(guest);
}

/** Script that hands over the hooks of the global scope, `let` and `const` included. */
const registerHooks = (hooks: readonly string[]): GuestFile => ({
  name: 'prelude.js',
  source: hooks.map(hook => registerHook(hook)).join(' '),
});

const registerHook = (hook: string): string =>
  `__gwRegister(${JSON.stringify(hook)}, typeof ${hook} === 'undefined' ? undefined : ${hook});`;

/** The prefix stands on the first line, so that line numbers are those of the script. */
const wrapScript = (source: string, hook: string): string => `(function () { ${source}\n; ${registerHook(hook)} })()`;

/** Data of loaded scripts that an image may hold. */
const maxImageBytes = 4_194_304;

/**
 * Takes the image of a guest whose scripts have run. Before, the memory grows to what a call may use, which costs nothing
 * until it is written; all live data is below its former end.
 */
export function takeImage(guest: QuickJsExports, owner: string, run: number, maxMemoryBytes: number): GuestImage {
  const buffer = guest.wasm_malloc(bufferBytes + argsBytes);
  const reserve = guest.wasm_malloc(maxMemoryBytes + spareBytes);
  guest.wasm_free(reserve);
  // Larger than any free block, it was the first one behind the live data; the header of a block is before it.
  const liveEnd = reserve;
  const stackPointer = guest.__stack_pointer.value;
  if (buffer === 0 || reserve === 0 || liveEnd - stackPointer > maxImageBytes)
    throw new GuestLoadError({ type: 'memory', message: `the scripts hold more than ${maxImageBytes} bytes`, at: '' });
  return {
    owner,
    memory: captureMemory(guest.memory, stackPointer, liveEnd),
    run,
    buffer,
    runtime: guest.qjs_get_runtime_ptr(),
    context: guest.qjs_get_context_ptr(),
  };
}
