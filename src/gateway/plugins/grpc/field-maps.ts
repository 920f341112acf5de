import type { ProtobufReader } from '#base/protobuf/protobuf-reader.ts';
import type { ProtobufWriter } from '#base/protobuf/protobuf-writer.ts';

/** Texts by name, without a prototype: names come from servers and clients. */
export type TextMap = Record<string, string>;

export const createTextMap = (): TextMap => Object.create(null) as TextMap;

/** Entry of a `map<string, string>` field: a message with key and value. */
export function writeEntry(writer: ProtobufWriter, field: number, key: string, value: string): void {
  const start = writer.beginMessage(field);
  writer.writeString(1, key);
  writer.writeString(2, value);
  writer.endMessage(start);
}

export function writeMap(writer: ProtobufWriter, field: number, map: Readonly<TextMap>): void {
  for (const key in map) writeEntry(writer, field, key, map[key]!);
}

/** An empty text is the default of proto3, and not written. */
export function writeNonEmpty(writer: ProtobufWriter, field: number, text: string): void {
  if (text !== '') writer.writeString(field, text);
}

/** Reads an entry into `map`. */
export function readEntry(reader: ProtobufReader, map: TextMap): void {
  const entry = reader.readMessage();
  let key = '';
  let value = '';
  for (let field = entry.readField(); field !== 0; field = entry.readField()) {
    if (field === 1) key = entry.readString();
    else if (field === 2) value = entry.readString();
    else entry.skip();
  }
  map[key] = value;
}
