import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipFile {
  readonly name: string;
  readonly content: string | Buffer;
  readonly isStored?: boolean;
  /** Declared instead of the size of the content. */
  readonly declaredBytes?: number;
}

/** Writes a ZIP archive, also one that lies about its sizes. */
export function createZip(files: readonly ZipFile[]): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const { name, content, isStored = false, declaredBytes } of files) {
    const plain = typeof content === 'string' ? Buffer.from(content) : content;
    const data = isStored ? plain : deflateRawSync(plain);
    const path = Buffer.from(name);
    const facts = Buffer.alloc(22);
    facts.writeUInt16LE(0x800, 2);
    facts.writeUInt16LE(isStored ? 0 : 8, 4);
    facts.writeUInt32LE(crc32(plain), 10);
    facts.writeUInt32LE(data.length, 14);
    facts.writeUInt32LE(declaredBytes ?? plain.length, 18);
    const lengths = Buffer.alloc(4);
    lengths.writeUInt16LE(path.length, 0);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, lengths, path, data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\0\0'), facts, lengths, tail, path]));
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end]);
}
