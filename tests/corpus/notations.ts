import { stringify } from 'yaml';
import type { Bag } from './pieces.ts';

/** How a document is written down, and what it is sent as. */
export type Notation = keyof typeof notations;

const jsonType = 'application/json';
const yamlType = 'application/x-yaml';
const utf8 = (text: string) => Buffer.from(text, 'utf8');
const mark = Buffer.from([0xef, 0xbb, 0xbf]);
const block = (document: Bag | string) => (typeof document === 'string' ? document : stringify(document));
const indentJson = (document: Bag | string) =>
  typeof document === 'string' ? document : JSON.stringify(document, null, 2);
const ascii = (text: string) =>
  text.replaceAll(/[\u0080-\uffff]/g, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

export const notations = {
  json: { type: jsonType, write: (it: Bag | string) => utf8(typeof it === 'string' ? it : JSON.stringify(it)) },
  'indented JSON': { type: `${jsonType}; charset=utf-8`, write: (it: Bag | string) => utf8(indentJson(it)) },
  'JSON with CRLF': { type: jsonType, write: (it: Bag | string) => utf8(indentJson(it).replaceAll('\n', '\r\n')) },
  'JSON with tabs': {
    type: jsonType,
    write: (it: Bag | string) => utf8(typeof it === 'string' ? it : JSON.stringify(it, null, '\t')),
  },
  'JSON with a byte order mark': {
    type: jsonType,
    write: (it: Bag | string) => Buffer.concat([mark, utf8(indentJson(it))]),
  },
  'JSON in ASCII': { type: jsonType, write: (it: Bag | string) => utf8(ascii(indentJson(it))) },
  'JSON in UTF-16': { type: jsonType, write: (it: Bag | string) => Buffer.from(`\ufeff${indentJson(it)}`, 'utf16le') },
  'JSON in Latin 1': { type: jsonType, write: (it: Bag | string) => Buffer.from(indentJson(it), 'latin1') },
  yaml: { type: yamlType, write: (it: Bag | string) => utf8(block(it)) },
  'YAML with CRLF': { type: 'application/yaml', write: (it: Bag | string) => utf8(block(it).replaceAll('\n', '\r\n')) },
  'YAML with a byte order mark': {
    type: 'text/yaml',
    write: (it: Bag | string) => Buffer.concat([mark, utf8(block(it))]),
  },
  'YAML as a document with markers': {
    type: 'application/vnd.oai.openapi+yaml',
    write: (it: Bag | string) => utf8(`%YAML 1.2\n---\n${block(it)}...\n`),
  },
  'YAML in folded lines': {
    type: 'text/x-yaml',
    write: (it: Bag | string) => utf8(typeof it === 'string' ? it : stringify(it, { lineWidth: 20 })),
  },
  'YAML in flow style': {
    type: yamlType,
    write: (it: Bag | string) => utf8(typeof it === 'string' ? it : stringify(it, { collectionStyle: 'flow' })),
  },
  'YAML in UTF-16': { type: yamlType, write: (it: Bag | string) => Buffer.from(`\ufeff${block(it)}`, 'utf16le') },
} as const;
