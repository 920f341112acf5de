import { parseXml, XmlError } from '#languages/xml.ts';
import { SignOnRefusal } from '../problems.ts';
import { countElements } from './elements.ts';
import { loadXmlLibraries, type XmlElement, type XmlSignature } from './xml-libraries.ts';

const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol';
const assertionNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion';
const signatureNamespace = 'http://www.w3.org/2000/09/xmldsig#';

/** Allow-list of algorithms: no SHA-1, no HMAC, no transform that leaves anything out. */
const acceptedSignatures = [
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
];
const acceptedHashes = ['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512'];
const acceptedTransforms = [
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
];

/** Bounds of a response: the libraries take quadratic time for attributes, and canonicalize for every reference. */
const xmlBounds = { maxSteps: 20_000, maxDepth: 30 };
const maxTagCharacters = 4096;
const maxSignatures = 2;
const maxTransforms = 4;
const tag = /<(?:[^<>"']|"[^"<]*"|'[^'<]*')*>/g;

/** Comments, document types, CDATA sections and processing instructions: parsers read them differently. */
const ambiguousMarkup = /<!|<\?(?!xml\s)/;

/**
 * Verifies the signature of a response, and returns the assertion as the signature covers it: parsed again from the
 * canonical text that was hashed, never from the document around it (signature wrapping).
 */
export function readSignedAssertion(xml: string, certificates: readonly string[]): unknown {
  rejectAmbiguity(xml);
  const { DOMParser, SignedXml } = loadXmlLibraries();
  const root = new DOMParser({ errorHandler: rejectMalformed }).parseFromString(xml, 'text/xml').documentElement;
  if (!root) throw new SignOnRefusal('Response missing');
  const [assertion, ...others] = listElements(root, assertionNamespace, 'Assertion');
  if (root.namespaceURI !== protocol || root.localName !== 'Response') throw new SignOnRefusal('Response missing');
  if (!assertion || others.length > 0) throw new SignOnRefusal('Assertion missing or repeated');
  const signed = [assertion, root].find(it => listElements(it, signatureNamespace, 'Signature').length > 0);
  if (!signed) throw new SignOnRefusal('signature missing');
  const [signature, ...more] = listElements(signed, signatureNamespace, 'Signature');
  if (more.length > 0) throw new SignOnRefusal('signature repeated');

  for (const publicCert of certificates) {
    const text = verifyWith(new SignedXml({ publicCert, getCertFromKeyInfo: () => null }), signature!, xml);
    if (text !== undefined) return selectAssertion(text, signed.getAttribute('ID') ?? '');
  }
  throw new SignOnRefusal('signature invalid');
}

/** Structure check by a parser of our own, before any other: one response, one assertion, anywhere in the document. */
function rejectAmbiguity(xml: string): void {
  if (ambiguousMarkup.test(xml)) throw new SignOnRefusal('XML has comments, a document type or CDATA');
  const document = parseOrRefuse(xml);
  if (countElements(document, 'Assertion') !== 1) throw new SignOnRefusal('Assertion missing or repeated');
  if (countElements(document, 'Response') !== 1) throw new SignOnRefusal('Response missing or repeated');
  if (countElements(document, 'EncryptedAssertion') > 0) throw new SignOnRefusal('assertion encrypted');
  rejectExpensive(xml, document);
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

function parseOrRefuse(xml: string): Record<string, unknown> {
  try {
    return parseXml(xml, xmlBounds);
  } catch (error) {
    if (error instanceof XmlError) throw new SignOnRefusal(`XML malformed: ${error.message}`);
    throw error;
  }
}

const rejectMalformed = (_level: string, message: string) => {
  throw new SignOnRefusal(`XML malformed: ${message}`);
};

const listElements = (parent: XmlElement, namespace: string, name: string): XmlElement[] =>
  Array.from(parent.childNodes).filter(node => node.localName === name && node.namespaceURI === namespace);

const pick = <T>(table: Record<string, T>, names: readonly string[]): Record<string, T> =>
  Object.fromEntries(names.flatMap(name => (table[name] === undefined ? [] : [[name, table[name]]])));

/** Text that the signature covers; undefined where the key of the verifier does not verify it. */
function verifyWith(verifier: XmlSignature, signature: XmlElement, xml: string): string | undefined {
  verifier.SignatureAlgorithms = pick(verifier.SignatureAlgorithms, acceptedSignatures);
  verifier.HashAlgorithms = pick(verifier.HashAlgorithms, acceptedHashes);
  verifier.CanonicalizationAlgorithms = pick(verifier.CanonicalizationAlgorithms, acceptedTransforms);
  if (!isVerified(verifier, signature, xml)) return undefined;
  const references = verifier.getSignedReferences();
  return references.length === 1 ? references[0] : undefined;
}

/** The library throws for a wrong digest, an algorithm that is not accepted, and a reference to nothing. */
function isVerified(verifier: XmlSignature, signature: XmlElement, xml: string): boolean {
  try {
    verifier.loadSignature(signature);
    return verifier.checkSignature(xml);
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

/** The verified text must be the element that carries the signature. */
function selectAssertion(text: string, id: string): unknown {
  const document = parseOrRefuse(text);
  const response = document.Response as Record<string, unknown> | undefined;
  const root = (response ?? document.Assertion) as Record<string, unknown> | undefined;
  if (!root || id === '' || root['-ID'] !== id) throw new SignOnRefusal('signature covers another element');
  const assertion = response ? response.Assertion : document.Assertion;
  if (!assertion || Array.isArray(assertion)) throw new SignOnRefusal('signature covers no assertion');
  return assertion;
}
