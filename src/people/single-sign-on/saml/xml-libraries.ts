import { createLoader } from '#base/lazy-packages.ts';

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
  signatureAlgorithm: string;
  canonicalizationAlgorithm: string;
  addReference(reference: object): void;
  computeSignature(xml: string, options: object): void;
  getSignedXml(): string;
}

interface XmlLibraries {
  readonly SignedXml: new (options: object) => XmlSignature;
  readonly DOMParser: new (
    options: object,
  ) => { parseFromString(xml: string, type: string): { readonly documentElement: XmlElement | null } };
}

/**
 * Loaded as `import('xml-crypto')` and `import('@xmldom/xmldom')` would, but without their types: those declare the DOM
 * of browsers for the whole program.
 */
const loadXmlCrypto = createLoader<Pick<XmlLibraries, 'SignedXml'>>('xml-crypto');
const loadXmldom = createLoader<Pick<XmlLibraries, 'DOMParser'>>('@xmldom/xmldom');

/** Loads the libraries on first use. */
export const loadXmlLibraries = (): XmlLibraries => ({
  SignedXml: loadXmlCrypto().SignedXml,
  DOMParser: loadXmldom().DOMParser,
});
