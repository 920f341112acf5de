import { parseXml, XmlError } from '#languages/xml.ts';
import { SignOnRefusal } from '../problems.ts';
import { countElements } from './elements.ts';
import { loadXmlLibraries, type XmlElement } from './xml-libraries.ts';

/** Bounds of a message: the libraries take quadratic time for attributes, and canonicalize for every reference. */
const xmlBounds = { maxSteps: 20_000, maxDepth: 30 };
const maxTagCharacters = 4096;
const maxSignatures = 2;
const maxTransforms = 4;
const tag = /<(?:[^<>"']|"[^"<]*"|'[^'<]*')*>/g;

/** Comments, document types, CDATA sections and processing instructions: parsers read them differently. */
const ambiguousMarkup = /<!|<\?(?!xml\s)/;

/** Parses a message with a parser of our own, before any other: no ambiguous markup, and nothing that takes long. */
export function parseMessage(xml: string): Record<string, unknown> {
  if (ambiguousMarkup.test(xml)) throw new SignOnRefusal('XML has comments, a document type or CDATA');
  const document = parseOrRefuse(xml);
  rejectExpensive(xml, document);
  return document;
}

/** Denial of service: digests of references are computed before the signature is verified. */
function rejectExpensive(xml: string, document: Record<string, unknown>): void {
  const signatures = countElements(document, 'Signature');
  if (signatures > maxSignatures) throw new SignOnRefusal(`signatures exceed ${maxSignatures}`);
  if (countElements(document, 'SignedInfo') > signatures || countElements(document, 'Reference') > signatures)
    throw new SignOnRefusal('signature has more than one reference');
  if (countElements(document, 'Transform') > maxTransforms)
    throw new SignOnRefusal(`transforms exceed ${maxTransforms}`);
  for (const [text] of xml.matchAll(tag))
    if (text.length > maxTagCharacters) throw new SignOnRefusal(`tag exceeds ${maxTagCharacters} characters`);
}

export function parseOrRefuse(xml: string): Record<string, unknown> {
  try {
    return parseXml(xml, xmlBounds);
  } catch (error) {
    if (error instanceof XmlError) throw new SignOnRefusal(`XML malformed: ${error.message}`);
    throw error;
  }
}

/** Root element of a message, in the DOM that signatures need. */
export function parseRoot(xml: string): XmlElement | null {
  const { DOMParser } = loadXmlLibraries();
  return new DOMParser({ errorHandler: rejectMalformed }).parseFromString(xml, 'text/xml').documentElement;
}

const rejectMalformed = (_level: string, message: string) => {
  throw new SignOnRefusal(`XML malformed: ${message}`);
};

export const listElements = (parent: XmlElement, namespace: string, name: string): XmlElement[] =>
  Array.from(parent.childNodes).filter(node => node.localName === name && node.namespaceURI === namespace);
