import { SignOnRefusal } from '../problems.ts';
import { listElements, parseOrRefuse } from './xml-document.ts';
import { loadXmlLibraries, type XmlElement, type XmlSignature } from './xml-libraries.ts';

export const signatureNamespace = 'http://www.w3.org/2000/09/xmldsig#';

/** Allow-list of algorithms: no SHA-1, no HMAC, no transform that leaves anything out. */
export const acceptedSignatures = [
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
];
const acceptedHashes = ['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512'];
const acceptedTransforms = [
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
];

export const hasSignature = (element: XmlElement): boolean =>
  listElements(element, signatureNamespace, 'Signature').length > 0;

/**
 * Verifies the signature that an element of a message carries, and returns the element as the signature covers it:
 * parsed again from the canonical text that was hashed, never from the document around it (signature wrapping).
 */
export function readSignedElement(
  xml: string,
  element: XmlElement,
  certificates: readonly string[],
): Record<string, unknown> {
  const { SignedXml } = loadXmlLibraries();
  const [signature, ...more] = listElements(element, signatureNamespace, 'Signature');
  if (!signature) throw new SignOnRefusal('signature missing');
  if (more.length > 0) throw new SignOnRefusal('signature repeated');
  for (const publicCert of certificates) {
    const text = verifyWith(new SignedXml({ publicCert, getCertFromKeyInfo: () => null }), signature, xml);
    if (text !== undefined) return selectSigned(text, element);
  }
  throw new SignOnRefusal('signature invalid');
}

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
function selectSigned(text: string, element: XmlElement): Record<string, unknown> {
  const id = element.getAttribute('ID') ?? '';
  const signed = parseOrRefuse(text)[element.localName ?? ''] as Record<string, unknown> | undefined;
  if (!signed || id === '' || signed['-ID'] !== id) throw new SignOnRefusal('signature covers another element');
  return signed;
}
