import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { instrumentModule } from './instrument-module.ts';
import { type MarkedMemory, markWritten } from './memory-image.ts';
import { type WasmGlobal, type WasmModule, webAssembly } from './webassembly.ts';

/**
 * Exports of the QuickJS WebAssembly module that the sandbox calls. Numbers are addresses in its memory, of JavaScript
 * values unless the name states otherwise. `quickjs-wasi` ships the module; its own wrapper creates instances
 * asynchronously and cannot restore a snapshot in place, so the sandbox calls the module itself.
 */
export interface QuickJsExports extends MarkedMemory {
  readonly __stack_pointer: WasmGlobal;
  _initialize(): void;
  qjs_init2(intrinsics: number): number;
  qjs_eval(code: number, codeBytes: number, fileName: number, flags: number): number;
  qjs_call(fn: number, self: number, count: number, args: number): number;
  qjs_new_host_function(name: number, nameBytes: number, parameterCount: number): number;
  qjs_new_string(text: number, textBytes: number): number;
  qjs_get_string_len(value: number, lengthOut: number): number;
  qjs_free_cstring(text: number): void;
  qjs_free_value(value: number): void;
  qjs_get_undefined(): number;
  qjs_is_exception(value: number): number;
  qjs_is_string(value: number): number;
  qjs_get_exception(): number;
  qjs_throw(error: number): number;
  /** 0 pending, 1 fulfilled, 2 rejected. */
  qjs_promise_state(promise: number): number;
  qjs_promise_result(promise: number): number;
  qjs_is_promise(value: number): number;
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  qjs_set_module_loader(isEnabled: number): void;
  qjs_get_prop_string(object: number, name: number): number;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_interrupt_handler(isEnabled: number): void;
  qjs_get_runtime_ptr(): number;
  qjs_get_context_ptr(): number;
  qjs_set_runtime_and_context(runtime: number, context: number): void;
  wasm_malloc(bytes: number): number;
  wasm_free(address: number): void;
}

/** Functions that the module imports. */
export interface QuickJsImports {
  /** Call of a host function: address of the result, 0 after an exception. */
  onHostCall(args: readonly number[]): number;
  /** Called every few thousand bytecode instructions. */
  onInterrupt(): void;
  /** Time that `Date` reads. */
  now(): number;
  /** Name of the module that `specifier` means in the module `from`. */
  resolveModule(from: string, specifier: string): string;
  /** Undefined where there is no such module. */
  findModule(name: string): string | undefined;
}

/** Success and "not supported" of WASI preview 1. */
const wasiSuccess = 0;
const wasiNotSupported = 52;

let compiled: WasmModule | undefined;

/** Compiled once per thread. */
export function compileQuickJs(): WasmModule {
  compiled ??= new webAssembly.Module(
    instrumentModule(readFileSync(fileURLToPath(import.meta.resolve('quickjs-wasi/quickjs.wasm')))),
  );
  return compiled;
}

/**
 * Instance without access to files, network, output or randomness of the host. A host function that throws unwinds the
 * whole guest: the guest cannot catch it.
 */
export function instantiateQuickJs(module: WasmModule, imports: QuickJsImports): QuickJsExports {
  const view = () => new DataView(exports.memory.buffer);
  const readCString = (address: number): string => {
    const bytes = Buffer.from(exports.memory.buffer);
    return bytes.toString('utf8', address, bytes.indexOf(0, address));
  };
  const writeCString = (text: string) => {
    const length = Buffer.byteLength(text);
    const address = exports.wasm_malloc(length + 1);
    if (address === 0) throw new RangeError('out of memory');
    const bytes = Buffer.from(exports.memory.buffer, address, length + 1);
    bytes.write(text, 0);
    bytes[length] = 0;
    markWritten(exports, address, length + 1);
    return { address, length };
  };
  const instance = new webAssembly.Instance(module, {
    env: {
      host_call(_name: number, _nameBytes: number, _self: number, count: number, args: number) {
        const memory = view();
        return imports.onHostCall(Array.from({ length: count }, (_, i) => memory.getUint32(args + i * 4, true)));
      },
      host_interrupt() {
        imports.onInterrupt();
        return 0;
      },
      host_promise_rejection() {},
      host_module_normalize: (from: number, specifier: number) =>
        writeCString(imports.resolveModule(readCString(from), readCString(specifier))).address,
      host_module_load(name: number, lengthOut: number) {
        const source = imports.findModule(readCString(name));
        if (source === undefined) return 0;
        const { address, length } = writeCString(source);
        view().setUint32(lengthOut, length, true);
        markWritten(exports, lengthOut, 4);
        return address;
      },
      host_get_timezone_offset: () => 0,
    },
    wasi_snapshot_preview1: {
      clock_time_get(_clock: number, _precision: bigint, result: number) {
        view().setBigUint64(result, BigInt(Math.trunc(imports.now())) * 1_000_000n, true);
        markWritten(exports, result, 8);
        return wasiSuccess;
      },
      // The same bytes for every instance: `Math.random` of guests is seeded per call.
      random_get: () => wasiSuccess,
      fd_close: () => wasiNotSupported,
      fd_fdstat_get: () => wasiNotSupported,
      fd_seek: () => wasiNotSupported,
      fd_write: () => wasiNotSupported,
    },
  });
  const exports = instance.exports as unknown as QuickJsExports;
  return exports;
}
