import { crc32, deflateRawSync } from 'node:zlib';

const endSignature = 0x06054b50;
const endBytes = 22;
const entrySignature = 0x02014b50;
const entryBytes = 46;
const localSignature = 0x04034b50;
const localBytes = 30;
/** Members that the local header and the directory entry share, from the version that reads the file on. */
const sharedBytes = 26;
const readerVersion = 20;
const utf8Flag = 0x0800;
const deflated = 8;
/** 1980-01-01, so that the same files give the same archive. */
const fixedDate = 0x21;

/** Writes a ZIP archive of files by name. */
export function writeZip(files: ReadonlyMap<string, Buffer>): Buffer {
  const contents: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of files) {
    const nameBytes = Buffer.from(name);
    const compressed = deflateRawSync(content);
    const shared = Buffer.alloc(sharedBytes);
    shared.writeUInt16LE(readerVersion, 0);
    shared.writeUInt16LE(utf8Flag, 2);
    shared.writeUInt16LE(deflated, 4);
    shared.writeUInt16LE(fixedDate, 8);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(compressed.length, 14);
    shared.writeUInt32LE(content.length, 18);
    shared.writeUInt16LE(nameBytes.length, 22);
    const signature = Buffer.alloc(4);
    signature.writeUInt32LE(localSignature, 0);
    const entry = Buffer.alloc(entryBytes);
    entry.writeUInt32LE(entrySignature, 0);
    entry.writeUInt16LE(readerVersion, 4);
    shared.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    contents.push(signature, shared, nameBytes, compressed);
    directory.push(entry, nameBytes);
    offset += localBytes + nameBytes.length + compressed.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(endBytes);
  end.writeUInt32LE(endSignature, 0);
  end.writeUInt16LE(files.size, 8);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...contents, entries, end]);
}
