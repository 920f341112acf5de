import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GuestImage } from './guest.ts';
import { startGuest, takeImage } from './guest-image.ts';
import { callGuest, evaluate } from './guest-values.ts';
import { replaceMemory, restoreMemory } from './memory-image.ts';
import { compileQuickJs, instantiateQuickJs, type QuickJsExports } from './quickjs-module.ts';

const limits = { maxMemoryBytes: 16 << 20, maxOutputBytes: 1 << 20, maxLogBytes: 10_000 };

/** Loads a guest with an array in its image. */
function load(): { guest: QuickJsExports; image: GuestImage } {
  const guest = instantiateQuickJs(compileQuickJs(), {
    onHostCall: () => 0,
    onInterrupt: () => undefined,
    now: () => 1e12,
    resolveModule: (_from, specifier) => specifier,
    findModule: () => undefined,
  });
  const run = startGuest(guest, limits);
  evaluate(guest, 'globalThis.loaded = new ArrayBuffer(65536);', 'loaded.js');
  callGuest(guest, run, JSON.stringify({ names: [], data: {} }), '');
  return { guest, image: takeImage(guest, 'org', run, limits.maxMemoryBytes) };
}

const countDifferences = ({ memory }: QuickJsExports, image: GuestImage): number => {
  const bytes = new Uint8Array(memory.buffer);
  let count = 0;
  for (const { start, bytes: saved } of image.memory.ranges)
    for (let i = 0; i < saved.length; i++) if (bytes[start + i] !== saved[i]) count++;
  return count;
};

/** Code that uses most of the engine; each has other instructions that write. */
const scripts: Readonly<Record<string, string>> = {
  'texts beyond Latin-1': `for (const text of ['a€😀Ǆ', 'ẞİﬁ', 'x'.repeat(999)])
    for (const name of Object.getOwnPropertyNames(String.prototype)) try { text[name]('€', 2); } catch (error) { String(error); }`,
  numbers: `for (const name of Object.getOwnPropertyNames(Math)) try { Math[name](0.5, 3); } catch (error) { String(error); }
    globalThis.n = [10n ** 300n, (1.5).toFixed(20), parseFloat('1e-7'), 0x7fffffff + 1]; new Date().toISOString();`,
  'views that are not aligned': `const view = new DataView(loaded);
    for (let i = 0; i < 65536 - 8; i += 129) { view.setFloat64(i, i); view.setBigUint64(i + 1, 7n); view.setInt16(i + 9, i); }`,
  'typed arrays': `new Float64Array(loaded).fill(1); new Uint16Array(loaded).fill(7, 9000);
    globalThis.a = ['Float32Array', 'Float64Array', 'Int8Array', 'BigInt64Array'].map(name =>
    new globalThis[name](1000).fill(name === 'BigInt64Array' ? 1n : 1).copyWithin(3, 100).toReversed());`,
  'changed built-in objects': `for (const name of Object.getOwnPropertyNames(globalThis)) try {
    const value = globalThis[name]; value.marked = name; value.prototype.marked = name; } catch (error) { String(error); }
    delete Array.prototype.map; Object.freeze(String.prototype);`,
  'exceptions and patterns': `for (let i = 0; i < 50; i++) try { null[i]; } catch (error) { error.stack; }
    /(?<a>.)\\\\k<a>/.exec('xx'); 'a,b'.replace(/(.),(.)/, '$2$1'); new RegExp('[\\\\u0000-\\\\uffff]{2,9}', 'gu');`,
  'collections and closures': `globalThis.m = new Map(); for (let i = 0; i < 5000; i++) m.set('k' + i, () => i);
    globalThis.w = new WeakMap([[m, 1]]); Promise.resolve(1).then(() => 2); (function* () { yield 1; })().next();`,
};

describe('memory image', () => {
  for (const [what, source] of Object.entries(scripts))
    test(`a guest that used ${what} has the memory of its image again`, () => {
      const { guest, image } = load();
      replaceMemory(guest, image.memory);
      for (let round = 0; round < 2; round++) {
        const value = evaluate(guest, source, 'script.js');
        assert.equal(guest.qjs_is_exception(value), 0);
        assert.ok(countDifferences(guest, image) > 100);
        restoreMemory(guest, image.memory);
        guest.__stack_pointer.value = image.memory.stackPointer;
        assert.equal(countDifferences(guest, image), 0);
      }
    });

  test('a guest that ended in the middle of a script has the memory of its image again', () => {
    const { guest, image } = load();
    replaceMemory(guest, image.memory);
    guest.qjs_set_memory_limit(1 << 20);
    evaluate(guest, `globalThis.kept = []; for (;;) kept.push('x'.repeat(100) + kept.length);`, 'script.js');
    restoreMemory(guest, image.memory);
    assert.equal(countDifferences(guest, image), 0);
  });
});
