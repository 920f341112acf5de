import { SignOnRefusal } from '../problems.ts';
import { type DecryptionKey, decryptElement, undecryptable } from './decryption.ts';
import { countElements, listChildren } from './elements.ts';
import { hasSignature, readSignedElement } from './signature.ts';
import { listElements, parseMessage, parseOrRefuse, parseRoot } from './xml-document.ts';
import type { XmlElement } from './xml-libraries.ts';

export const protocolNamespace = 'urn:oasis:names:tc:SAML:2.0:protocol';
export const assertionNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion';

/**
 * Assertion of a response, as a signature covers it. An encrypted one is decrypted after the signature of the response
 * where the response has one, which also proves who encrypted it; else the signature inside it is verified.
 */
export function readSignedAssertion(xml: string, certificates: readonly string[], key?: DecryptionKey): unknown {
  const document = parseMessage(xml);
  const plain = countElements(document, 'Assertion');
  const encrypted = countElements(document, 'EncryptedAssertion');
  if (plain + encrypted !== 1) throw new SignOnRefusal('Assertion missing or repeated');
  if (countElements(document, 'Response') !== 1) throw new SignOnRefusal('Response missing or repeated');
  const root = parseRoot(xml);
  if (root?.namespaceURI !== protocolNamespace || root.localName !== 'Response')
    throw new SignOnRefusal('Response missing');
  const name = encrypted === 1 ? 'EncryptedAssertion' : 'Assertion';
  const [assertion] = listElements(root, assertionNamespace, name);
  if (!assertion) throw new SignOnRefusal('Assertion missing or repeated');
  if (encrypted === 0) return readPlain(xml, root, assertion, certificates);
  if (!key) throw new SignOnRefusal('assertion encrypted, and the profile has no SPPrivateKey');
  return readEncrypted(xml, root, certificates, key);
}

function readPlain(xml: string, root: XmlElement, assertion: XmlElement, certificates: readonly string[]): unknown {
  if (hasSignature(assertion)) return readSignedElement(xml, assertion, certificates);
  return selectOnly(readSignedElement(xml, root, certificates), 'Assertion');
}

/** The only element of a name; the signature may have covered none. */
function selectOnly(parent: unknown, name: string): unknown {
  const [only, ...others] = listChildren(parent, name);
  if (only === undefined || others.length > 0) throw new SignOnRefusal('signature covers no assertion');
  return only;
}

function readEncrypted(xml: string, root: XmlElement, certificates: readonly string[], key: DecryptionKey): unknown {
  const isResponseSigned = hasSignature(root);
  const response = isResponseSigned ? readSignedElement(xml, root, certificates) : parseOrRefuse(xml).Response;
  const text = decryptElement(selectOnly(response, 'EncryptedAssertion'), key);
  const { assertion, element } = parseDecrypted(text);
  if (hasSignature(element)) return readSignedElement(text, element, certificates);
  if (!isResponseSigned) throw new SignOnRefusal('signature missing');
  return assertion;
}

/** Padding oracle: text that is no assertion has the same reason as bytes that cannot be decrypted. */
function parseDecrypted(text: string) {
  try {
    const { Assertion: assertion } = parseMessage(text);
    const element = parseRoot(text);
    const names = ['Assertion', 'EncryptedAssertion', 'Response'];
    const [own, ...others] = names.map(name => countElements({ Assertion: assertion }, name));
    const isAssertion = element?.namespaceURI === assertionNamespace && element.localName === 'Assertion';
    if (isAssertion && own === 1 && others.every(count => count === 0)) return { assertion, element };
  } catch (error) {
    if (!(error instanceof SignOnRefusal)) throw error;
  }
  throw undecryptable();
}
