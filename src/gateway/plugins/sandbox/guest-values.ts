import type { GuestFault, GuestImage } from './guest.ts';
import { markWritten } from './memory-image.ts';
import type { QuickJsExports } from './quickjs-module.ts';

/** Text that fits into the buffer of an image needs no allocation in the guest. */
export const bufferBytes = 16_384;
/** Argument addresses, behind the buffer. */
export const argsBytes = 16;

/** Calls the run function with texts in the buffer of the image where they fit. */
export function callImage(guest: QuickJsExports, { run, buffer }: GuestImage, head: string, body: string): number {
  // Three bytes per UTF-16 code unit at most.
  if ((head.length + body.length) * 3 > bufferBytes) return callGuest(guest, run, head, body);
  const bytes = Buffer.from(guest.memory.buffer, buffer, bufferBytes + argsBytes);
  const headBytes = bytes.write(head, 0);
  const bodyBytes = bytes.write(body, headBytes);
  const args = buffer + bufferBytes;
  const headValue = guest.qjs_new_string(buffer, headBytes);
  const bodyValue = guest.qjs_new_string(buffer + headBytes, bodyBytes);
  return invoke(guest, run, args, headValue, bodyValue);
}

export function callGuest(guest: QuickJsExports, run: number, head: string, body: string): number {
  const args = guest.wasm_malloc(argsBytes);
  if (args === 0) throw new RangeError('out of memory');
  markWritten(guest, args, argsBytes);
  return invoke(guest, run, args, newString(guest, head), newString(guest, body));
}

function invoke(guest: QuickJsExports, run: number, args: number, head: number, body: number): number {
  const view = new DataView(guest.memory.buffer);
  view.setUint32(args, head, true);
  view.setUint32(args + 4, body, true);
  return guest.qjs_call(run, guest.qjs_get_undefined(), 2, args);
}

/** Flag of `qjs_eval` for a module. */
const moduleFlag = 1;

export function evaluate(guest: QuickJsExports, source: string, fileName: string, isModule = false): number {
  const code = writeText(guest, source);
  const name = writeText(guest, fileName);
  const value = guest.qjs_eval(code, Buffer.byteLength(source), name, isModule ? moduleFlag : 0);
  guest.wasm_free(code);
  guest.wasm_free(name);
  return value;
}

/** Writes a text with a closing NUL; the caller frees it. */
export function writeText(guest: QuickJsExports, text: string): number {
  const length = Buffer.byteLength(text);
  const address = guest.wasm_malloc(length + 1);
  if (address === 0) throw new RangeError('out of memory');
  const bytes = Buffer.from(guest.memory.buffer, address, length + 1);
  bytes.write(text, 0);
  bytes[length] = 0;
  markWritten(guest, address, length + 1);
  return address;
}

export function newString(guest: QuickJsExports, text: string): number {
  const address = writeText(guest, text);
  const value = guest.qjs_new_string(address, Buffer.byteLength(text));
  guest.wasm_free(address);
  return value;
}

/** Text of a value; undefined when it is longer than `maxBytes`. */
export function readGuestText(guest: QuickJsExports, value: number): string;
export function readGuestText(guest: QuickJsExports, value: number, maxBytes: number): string | undefined;
export function readGuestText(
  guest: QuickJsExports,
  value: number,
  maxBytes = Number.POSITIVE_INFINITY,
): string | undefined {
  const lengthOut = guest.wasm_malloc(4);
  if (lengthOut === 0) throw new RangeError('out of memory');
  const address = guest.qjs_get_string_len(value, lengthOut);
  if (address === 0) return '';
  const length = new DataView(guest.memory.buffer).getUint32(lengthOut, true);
  const text = length > maxBytes ? undefined : Buffer.from(guest.memory.buffer, address, length).toString();
  guest.qjs_free_cstring(address);
  guest.wasm_free(lengthOut);
  return text;
}

const fulfilled = 1;
const rejected = 2;

/** Value of a promise after its jobs have run: an exception where it is rejected, undefined where it stays pending. */
export function settlePromise(guest: QuickJsExports, promise: number): number | undefined {
  while (guest.qjs_is_job_pending() !== 0) guest.qjs_execute_pending_job();
  const state = guest.qjs_promise_state(promise);
  if (state === fulfilled) return guest.qjs_promise_result(promise);
  return state === rejected ? guest.qjs_throw(guest.qjs_promise_result(promise)) : undefined;
}

const maxMessageLength = 500;

export function readFault(guest: QuickJsExports): GuestFault {
  const error = guest.qjs_get_exception();
  const message = readProperty(guest, error, 'message') || readGuestText(guest, error);
  const stack = readProperty(guest, error, 'stack');
  const name = readProperty(guest, error, 'name');
  const type = name === 'SyntaxError' ? 'syntax' : isExhaustion(name, message) ? 'memory' : 'runtime';
  return { type, message: message.slice(0, maxMessageLength), at: findPlace(stack) };
}

/** True for the exceptions of QuickJS at its limits of memory and stack. A guest that throws such a one harms itself. */
const isExhaustion = (name: string, message: string): boolean =>
  (name === 'InternalError' && /out of memory|stack overflow/.test(message)) ||
  (name === 'RangeError' && message === 'Maximum call stack size exceeded');

function readProperty(guest: QuickJsExports, object: number, name: string): string {
  const address = writeText(guest, name);
  const value = guest.qjs_get_prop_string(object, address);
  return guest.qjs_is_string(value) === 0 ? '' : readGuestText(guest, value);
}

/** Frames outside of scripts: the prelude, and texts that `JSON.parse` got. */
const isOwnFrame = (place: string) => place.startsWith('prelude.js:') || place.startsWith('<input>:');

/** First frame of a stack in a script: `file:line`. */
function findPlace(stack: string): string {
  for (const line of stack.split('\n')) {
    const [, place] = /([^\s():]+:\d+)(?::\d+)?\)?$/.exec(line.trim()) ?? [];
    if (place !== undefined && !isOwnFrame(place)) return place;
  }
  return '';
}
