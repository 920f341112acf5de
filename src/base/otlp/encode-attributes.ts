import { BoundedMap } from '../bounded-map.ts';
import { ProtobufWriter } from '../protobuf/protobuf-writer.ts';
import type { AttributeGroup, OtlpAttributes } from './span.ts';

/** `KeyValue` and `AnyValue` of opentelemetry/proto/common/v1/common.proto. */
const fields = { key: 1, value: 2, stringValue: 1, boolValue: 2, intValue: 3 } as const;

/** Names of attributes with a stored encoding. */
const maxKeys = 1000;

/** Writes attributes as the repeated `KeyValue` field `field` of the current message. */
export function writeAttributes(writer: ProtobufWriter, field: number, attributes: OtlpAttributes): void {
  for (let i = 0; i < attributes.length; i += 2) {
    const start = writer.beginMessage(field);
    writer.writeEncoded(encodeKey(attributes[i] as string));
    const valueStart = writer.beginMessage(fields.value);
    const value = attributes[i + 1]!;
    if (typeof value === 'string') writer.writeString(fields.stringValue, value);
    else if (typeof value === 'number') writer.writeUnsigned(fields.intValue, value);
    else writer.writeUnsigned(fields.boolValue, value ? 1 : 0);
    writer.endMessage(valueStart);
    writer.endMessage(start);
  }
}

/** Encoded `key` fields: the names of attributes are few, and the labels of metrics too. */
const encodedKeys = new BoundedMap<string, Uint8Array>(maxKeys);

function encodeKey(key: string): Uint8Array {
  const known = encodedKeys.get(key);
  if (known) return known;
  const writer = new ProtobufWriter(256);
  writer.writeString(fields.key, key);
  const encoded = writer.drain();
  encodedKeys.set(key, encoded);
  return encoded;
}

/** Encoding of a group for the field of attributes, `field` of every span. */
export function encodeGroup(group: AttributeGroup, field: number): Uint8Array {
  if (group.protobuf) return group.protobuf;
  const writer = new ProtobufWriter();
  writeAttributes(writer, field, group.list);
  group.protobuf = writer.drain();
  return group.protobuf;
}

/** Attributes as a JSON array, those of the group first. */
export function formatAttributes(attributes: OtlpAttributes, group?: AttributeGroup): string {
  if (!group) return `[${formatMembers(attributes)}]`;
  group.json ??= formatMembers(group.list);
  return attributes.length === 0 ? `[${group.json}]` : `[${group.json},${formatMembers(attributes)}]`;
}

/** Whole numbers are text, as JSON of Protocol Buffers has 64-bit integers. */
function formatMembers(attributes: OtlpAttributes): string {
  let text = '';
  for (let i = 0; i < attributes.length; i += 2) {
    const value = attributes[i + 1]!;
    if (i > 0) text += ',';
    text += formatKey(attributes[i] as string);
    if (typeof value === 'string') text += `"stringValue":${formatText(value)}`;
    else if (typeof value === 'number') text += `"intValue":"${value}"`;
    else text += `"boolValue":${value}`;
    text += '}}';
  }
  return text;
}

/** Start of an attribute in JSON, up to its value. */
const formattedKeys = new BoundedMap<string, string>(maxKeys);

function formatKey(key: string): string {
  const known = formattedKeys.get(key);
  if (known) return known;
  const formatted = `{"key":${formatText(key)},"value":{`;
  formattedKeys.set(key, formatted);
  return formatted;
}

/** Printable ASCII without quotation mark and backslash: JSON of it is the text itself. */
const plainPattern = /^[ !#-[\]-~]*$/;

/** JSON text of a string; lone surrogates become U+FFFD, as in UTF-8. */
export const formatText = (text: string): string =>
  plainPattern.test(text) ? `"${text}"` : JSON.stringify(text.toWellFormed());
