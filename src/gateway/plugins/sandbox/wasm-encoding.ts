/** Binary format of WebAssembly modules, as far as the sandbox rewrites them. */

export const sectionIds = { type: 1, import: 2, function: 3, memory: 5, global: 6, export: 7, code: 10 } as const;
export const exportKinds = { function: 0, memory: 2 } as const;
export const functionType = 0x60;
export const i32 = 0x7f;
export const i64 = 0x7e;
export const f32 = 0x7d;
export const f64 = 0x7c;
export const getLocal = 0x20;
export const setLocal = 0x21;
export const teeLocal = 0x22;
export const loopOpcode = 0x03;
/** Prefix of instructions such as `memory.copy`. */
export const extendedPrefix = 0xfc;

/** Position in a module. */
export class WasmReader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    return this.bytes[this.at++]!;
  }

  /** Unsigned LEB128. */
  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  /** Skips LEB128 numbers of either sign. */
  skipNumbers(count: number): void {
    for (let i = 0; i < count; i++) while (this.byte() >= 128);
  }
}

/** Output that grows. */
export class WasmWriter {
  bytes = new Uint8Array(1 << 12);
  length = 0;

  #reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  write(bytes: readonly number[]): void {
    this.#reserve(bytes.length);
    for (const byte of bytes) this.bytes[this.length++] = byte;
  }

  copy(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  number(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.write([(rest % 128) | 128]);
    this.write([rest]);
  }

  /** `i32.const` with an unsigned number. */
  constant(value: number): void {
    this.write([0x41]);
    let rest = value | 0;
    for (;;) {
      const byte = rest & 127;
      rest >>= 7;
      if ((rest === 0 && (byte & 64) === 0) || (rest === -1 && (byte & 64) !== 0)) {
        this.write([byte]);
        return;
      }
      this.write([byte | 128]);
    }
  }

  /** Instruction with an index, such as that of a local. */
  instruction(opcode: number, index: number): void {
    this.write([opcode]);
    this.number(index);
  }

  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }
}

export interface WasmSection {
  readonly id: number;
  readonly content: Uint8Array;
}

export function listWasmSections(module: Uint8Array): WasmSection[] {
  const reader = new WasmReader(module, 8);
  const sections: WasmSection[] = [];
  while (reader.at < module.length) {
    const id = reader.byte();
    const length = reader.number();
    sections.push({ id, content: module.subarray(reader.at, reader.at + length) });
    reader.at += length;
  }
  return sections;
}

/** Names of the imported functions, in the order of their indices. The module imports functions only. */
export function readImportNames(reader: WasmReader): string[] {
  const readName = () => {
    const length = reader.number();
    reader.at += length;
    return Buffer.from(reader.bytes.subarray(reader.at - length, reader.at)).toString();
  };
  return Array.from({ length: reader.number() }, () => {
    readName();
    const name = readName();
    if (reader.byte() !== exportKinds.function) throw new Error('the module imports more than functions');
    reader.skipNumbers(1);
    return name;
  });
}

/** Section with further entries. */
export function addEntries(content: Uint8Array, entries: readonly (readonly number[])[]): Uint8Array {
  const reader = new WasmReader(content);
  const out = new WasmWriter();
  out.number(reader.number() + entries.length);
  out.copy(content.subarray(reader.at));
  for (const entry of entries) out.write(entry);
  return out.view();
}

export const encodeExport = (name: string, kind: number, index: number): number[] => [
  ...encodeNumber(name.length),
  ...Buffer.from(name),
  kind,
  ...encodeNumber(index),
];

export function encodeNumber(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...encodeNumber(Math.floor(value / 128))];
}

export function readNumberList(reader: WasmReader): number[] {
  return Array.from({ length: reader.number() }, () => reader.number());
}

export function readParameterCounts(reader: WasmReader): number[] {
  return Array.from({ length: reader.number() }, () => {
    if (reader.byte() !== functionType) throw new Error('a type of the module is no function');
    const count = reader.number();
    reader.at += count;
    const results = reader.number();
    reader.at += results;
    return count;
  });
}

/** Skips an instruction behind its prefix; true for memory.init, memory.copy and memory.fill. */
export function skipExtended(reader: WasmReader): boolean {
  const opcode = reader.number();
  reader.skipNumbers(countExtendedNumbers(opcode));
  return opcode === 8 || opcode === 10 || opcode === 11;
}

/** Numbers behind an instruction with the prefix 0xfc. */
function countExtendedNumbers(opcode: number): number {
  if (opcode <= 7) return 0;
  const count = [2, 1, 2, 1, 2, 1, 2, 1, 1, 1][opcode - 8];
  if (count === undefined) throw new Error(`instruction 0xfc ${opcode} is not supported`);
  return count;
}

const unsupported = 255;

/** Numbers behind each instruction of one byte; those of a list, of floating-point numbers and stores are apart. */
const numberCounts = new Uint8Array(256).fill(unsupported);
for (const opcode of [0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1]) numberCounts[opcode] = 0;
for (const opcode of [0x02, 0x03, 0x04, 0x0c, 0x0d, 0x10, 0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2]) numberCounts[opcode] = 1;
numberCounts[0x11] = 2;
numberCounts.fill(1, 0x20, 0x27);
numberCounts.fill(2, 0x28, 0x36);
numberCounts.fill(0, 0x45, 0xc5);

export function skipImmediates(reader: WasmReader, opcode: number): void {
  const count = numberCounts[opcode]!;
  if (count !== unsupported) reader.skipNumbers(count);
  else if (opcode === 0x0e) reader.skipNumbers(reader.number() + 1);
  else if (opcode === 0x1c) reader.skipNumbers(reader.number());
  else if (opcode === 0x43) reader.at += 4;
  else if (opcode === 0x44) reader.at += 8;
  else throw new Error(`instruction 0x${opcode.toString(16)} is not supported`);
}
