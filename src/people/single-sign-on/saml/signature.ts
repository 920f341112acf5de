import { parseXml, XmlError } from '#languages/xml.ts';
import { SignOnRefusal } from '../problems.ts';
import { countElements } from './elements.ts';
import { loadXmlLibraries, type XmlElement } from './xml-libraries.ts';

const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol';
const assertionNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion';
const signatureNamespace = 'http://www.w3.org/2000/09/xmldsig#';

/** Algorithms of the few that are accepted: no SHA-1, no HMAC, no transform that leaves anything out. */
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
  const root = new DOMParser({ errorHandler: refuseMalformed }).parseFromString(xml, 'text/xml').documentElement;
  if (!root) throw new SignOnRefusal('no SAML response');
  const [assertion, ...others] = listElements(root, assertionNamespace, 'Assertion');
  if (root.namespaceURI !== protocol || root.localName !== 'Response') throw new SignOnRefusal('no SAML response');
  if (!assertion || others.length > 0) throw new SignOnRefusal('not exactly one assertion');
  const signed = [assertion, root].find(it => listElements(it, signatureNamespace, 'Signature').length > 0);
  if (!signed) throw new SignOnRefusal('the assertion is not signed');
  const [signature, ...more] = listElements(signed, signatureNamespace, 'Signature');
  if (more.length > 0) throw new SignOnRefusal('more than one signature');

  for (const publicCert of certificates) {
    const verifier = new SignedXml({ publicCert, getCertFromKeyInfo: () => null });
    verifier.SignatureAlgorithms = pick(verifier.SignatureAlgorithms, acceptedSignatures);
    verifier.HashAlgorithms = pick(verifier.HashAlgorithms, acceptedHashes);
    verifier.CanonicalizationAlgorithms = pick(verifier.CanonicalizationAlgorithms, acceptedTransforms);
    const text = verifySignature(() => {
      verifier.loadSignature(signature!);
      if (!verifier.checkSignature(xml)) return undefined;
      const references = verifier.getSignedReferences();
      return references.length === 1 ? references[0] : undefined;
    });
    if (text !== undefined) return selectAssertion(text, signed.getAttribute('ID') ?? '');
  }
  throw new SignOnRefusal('the signature is invalid');
}

/** Structure check by a parser of our own, before any other: one response, one assertion, anywhere in the document. */
function rejectAmbiguity(xml: string): void {
  if (ambiguousMarkup.test(xml)) throw new SignOnRefusal('a comment, document type or CDATA section');
  const document = parseOrRefuse(xml);
  if (countElements(document, 'Assertion') !== 1) throw new SignOnRefusal('not exactly one assertion');
  if (countElements(document, 'Response') !== 1) throw new SignOnRefusal('not exactly one response');
  if (countElements(document, 'EncryptedAssertion') > 0) throw new SignOnRefusal('an encrypted assertion');
  rejectExpensive(xml, document);
}

/** Denial of service: digests of references are computed before the signature is verified. */
function rejectExpensive(xml: string, document: Record<string, unknown>): void {
  const signatures = countElements(document, 'Signature');
  if (signatures > maxSignatures) throw new SignOnRefusal(`more than ${maxSignatures} signatures`);
  if (countElements(document, 'SignedInfo') > signatures || countElements(document, 'Reference') > signatures)
    throw new SignOnRefusal('a signature with more than one reference');
  if (countElements(document, 'Transform') > maxTransforms) throw new SignOnRefusal('too many transforms');
  for (const [text] of xml.matchAll(tag))
    if (text.length > maxTagCharacters) throw new SignOnRefusal(`a tag longer than ${maxTagCharacters} characters`);
}

function parseOrRefuse(xml: string): Record<string, unknown> {
  try {
    return parseXml(xml, xmlBounds);
  } catch (error) {
    if (error instanceof XmlError) throw new SignOnRefusal(`malformed XML: ${error.message}`);
    throw error;
  }
}

const refuseMalformed = (_level: string, message: string) => {
  throw new SignOnRefusal(`malformed XML: ${message}`);
};

const listElements = (parent: XmlElement, namespace: string, name: string): XmlElement[] =>
  Array.from(parent.childNodes).filter(node => node.localName === name && node.namespaceURI === namespace);

const pick = <T>(table: Record<string, T>, names: readonly string[]): Record<string, T> =>
  Object.fromEntries(names.flatMap(name => (table[name] === undefined ? [] : [[name, table[name]]])));

/** The library throws for a wrong digest, an algorithm that is not accepted, and a reference to nothing. */
function verifySignature(verify: () => string | undefined): string | undefined {
  try {
    return verify();
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** The verified text must be the very element that carries the signature. */
function selectAssertion(text: string, id: string): unknown {
  const document = parseOrRefuse(text);
  const response = document.Response as Record<string, unknown> | undefined;
  const root = (response ?? document.Assertion) as Record<string, unknown> | undefined;
  if (!root || id === '' || root['-ID'] !== id) throw new SignOnRefusal('the signature covers another element');
  const assertion = response ? response.Assertion : document.Assertion;
  if (!assertion || Array.isArray(assertion)) throw new SignOnRefusal('the signature covers no assertion');
  return assertion;
}
