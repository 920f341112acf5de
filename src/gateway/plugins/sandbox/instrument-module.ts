import { checkLoop, countCopy, encodeCountGlobal, type LoopCheck } from './loop-checks.ts';
import {
  addEntries,
  encodeExport,
  encodeNumber,
  exportKinds,
  extendedPrefix,
  f32,
  f64,
  functionType,
  i32,
  i64,
  listWasmSections,
  loopOpcode,
  readImportNames,
  readNumberList,
  readParameterCounts,
  sectionIds,
  skipExtended,
  skipImmediates,
  WasmReader,
  WasmWriter,
} from './wasm-encoding.ts';
import { markBytes, markRange, markStore, restoreBody, wasmPageBytes } from './write-barrier.ts';

const interruptName = 'host_interrupt';

/** Rewrites a module with a write barrier and loop checks. Sections that neither changes stay as they are. */
export function instrumentModule(module: Uint8Array): Uint8Array {
  const sections = listWasmSections(module);
  const find = (id: number) => new WasmReader(sections.find(it => it.id === id)?.content ?? new Uint8Array(1));
  const parameterCounts = readParameterCounts(find(sectionIds.type));
  const types = readNumberList(find(sectionIds.function));
  const imports = readImportNames(find(sectionIds.import));
  const interruptFunction = imports.indexOf(interruptName);
  if (interruptFunction === -1) throw new Error(`the module does not import ${interruptName}`);
  const check: LoopCheck = { countGlobal: find(sectionIds.global).number(), interruptFunction };
  const countGlobal = new WasmWriter();
  encodeCountGlobal(countGlobal);
  const rewrite: Readonly<Record<number, (content: Uint8Array) => Uint8Array>> = {
    [sectionIds.type]: content => addEntries(content, [[functionType, 3, i32, i32, i32, 0]]),
    [sectionIds.function]: content => addEntries(content, [[parameterCounts.length]]),
    [sectionIds.memory]: content => addEntries(content, [[0, ...encodeNumber(markBytes / wasmPageBytes)]]),
    [sectionIds.global]: content => addEntries(content, [[...countGlobal.view()]]),
    [sectionIds.export]: content =>
      addEntries(content, [
        encodeExport('writtenBlocks', exportKinds.memory, 1),
        encodeExport('restoreBlocks', exportKinds.function, imports.length + types.length),
      ]),
    [sectionIds.code]: content => rewriteCode(content, check, index => parameterCounts[types[index]!]!),
  };
  const out = new WasmWriter();
  out.copy(module.subarray(0, 8));
  for (const { id, content } of sections) {
    const changed = rewrite[id]?.(content) ?? content;
    out.write([id]);
    out.number(changed.length);
    out.copy(changed);
  }
  return out.view();
}

/** Rewrites all functions, and adds the one that restores blocks. */
function rewriteCode(content: Uint8Array, check: LoopCheck, countParameters: (index: number) => number): Uint8Array {
  const reader = new WasmReader(content);
  const out = new WasmWriter();
  const body = new WasmWriter();
  const count = reader.number();
  out.number(count + 1);
  for (let i = 0; i < count; i++) {
    const length = reader.number();
    body.length = 0;
    rewriteFunction(content.subarray(reader.at, reader.at + length), check, countParameters(i), body);
    reader.at += length;
    out.number(body.length);
    out.copy(body.view());
  }
  out.number(restoreBody.length);
  out.write(restoreBody);
  return out.view();
}

/** Locals of a rewritten function behind its own: an address, two operands, and a value of each other type. */
const addedLocals = [
  [3, i32],
  [1, i64],
  [1, f32],
  [1, f64],
] as const;

function rewriteFunction(body: Uint8Array, check: LoopCheck, parameterCount: number, out: WasmWriter): void {
  const reader = new WasmReader(body);
  const groupCount = reader.number();
  const groupsStart = reader.at;
  let firstLocal = parameterCount;
  for (let i = 0; i < groupCount; i++) {
    firstLocal += reader.number();
    reader.byte();
  }
  out.number(groupCount + addedLocals.length);
  out.copy(body.subarray(groupsStart, reader.at));
  for (const [count, type] of addedLocals) out.write([count, type]);
  let copied = reader.at;
  /** Copies the instructions before `end` that are not copied yet. */
  const copyUntil = (end: number) => {
    out.copy(body.subarray(copied, end));
    copied = end;
  };
  while (reader.at < body.length) {
    const start = reader.at;
    const opcode = reader.byte();
    if (opcode >= 0x36 && opcode <= 0x3e) {
      copyUntil(start);
      markStore(reader, out, opcode, firstLocal);
    } else if (opcode === extendedPrefix) {
      if (!skipExtended(reader)) continue;
      copyUntil(start);
      countCopy(out, check, markRange(out, firstLocal));
    } else {
      skipImmediates(reader, opcode);
      if (opcode !== loopOpcode) continue;
      copyUntil(reader.at);
      checkLoop(out, check, firstLocal);
    }
  }
  copyUntil(body.length);
}
