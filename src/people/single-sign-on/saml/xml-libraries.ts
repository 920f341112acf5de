import { createRequire } from 'node:module';

/** The parts of the DOM that signatures need. */
export interface XmlElement {
  readonly localName: string | null;
  readonly namespaceURI: string | null;
  readonly childNodes: ArrayLike<XmlElement>;
  getAttribute(name: string): string | null;
}

type Algorithms = Record<string, unknown>;

/** XML signature (XMLDSig), of `xml-crypto`. */
export interface XmlSignature {
  SignatureAlgorithms: Algorithms;
  HashAlgorithms: Algorithms;
  CanonicalizationAlgorithms: Algorithms;
  loadSignature(signature: XmlElement): void;
  checkSignature(xml: string): boolean;
  /** Canonical text of what was verified. */
  getSignedReferences(): string[];
}

interface XmlLibraries {
  readonly SignedXml: new (options: object) => XmlSignature;
  readonly DOMParser: new (
    options: object,
  ) => { parseFromString(xml: string, type: string): { readonly documentElement: XmlElement | null } };
}

/**
 * Loads the libraries on first use, as `import('xml-crypto')` and `import('@xmldom/xmldom')` would, but without their
 * types: those declare the DOM of browsers for the whole program.
 */
export function loadXmlLibraries(): XmlLibraries {
  const require = createRequire(import.meta.url);
  const { SignedXml } = require('xml-crypto') as Pick<XmlLibraries, 'SignedXml'>;
  const { DOMParser } = require('@xmldom/xmldom') as Pick<XmlLibraries, 'DOMParser'>;
  return { SignedXml, DOMParser };
}
