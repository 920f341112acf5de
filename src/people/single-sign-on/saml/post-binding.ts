import { createHash, type KeyObject } from 'node:crypto';
import { escapeMarkup } from '#base/escape-markup.ts';
import { closedPagePolicy } from '#base/page-guard.ts';
import type { MessageName } from './redirect-binding.ts';
import { signatureNamespace } from './signature.ts';
import { loadXmlLibraries } from './xml-libraries.ts';

/** HTTP-POST binding (SAML 2.0 Bindings, section 3.5): a page whose form the browser posts to the provider. */
export interface PostPage {
  readonly html: string;
  readonly policy: string;
}

const script = 'document.forms[0].submit()';
const scriptHash = createHash('sha256').update(script).digest('base64');

/** Page that posts a message. Its policy permits the one script, and the provider as the target of the form. */
export function renderPost(endpoint: string, name: MessageName, xml: string, relayState: string): PostPage {
  const fields = [
    [name, Buffer.from(xml).toString('base64')],
    ...(relayState === '' ? [] : [['RelayState', relayState]]),
  ];
  const inputs = fields.map(([key, value]) => `<input type="hidden" name="${key}" value="${escapeMarkup(value!)}">`);
  const { origin } = new URL(endpoint);
  return {
    html: [
      '<!doctype html><html lang="en"><title>Sign-out</title><h1>Sign-out</h1>',
      `<form method="post" action="${escapeMarkup(endpoint)}">${inputs.join('')}<button>Continue</button></form>`,
      `<script>${script}</script></html>`,
    ].join('\n'),
    policy: `${closedPagePolicy}; script-src 'sha256-${scriptHash}'; form-action ${origin}`,
  };
}

/** Adds an enveloped signature to a message, behind its issuer (SAML 2.0 Core, section 5.4). */
export function signXml(xml: string, privateKey: KeyObject): string {
  const { SignedXml } = loadXmlLibraries();
  const signer = new SignedXml({ privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) });
  signer.signatureAlgorithm = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
  signer.canonicalizationAlgorithm = 'http://www.w3.org/2001/10/xml-exc-c14n#';
  signer.addReference({
    xpath: '/*',
    digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256',
    transforms: [`${signatureNamespace}enveloped-signature`, 'http://www.w3.org/2001/10/xml-exc-c14n#'],
  });
  signer.computeSignature(xml, { location: { reference: "/*/*[local-name(.)='Issuer']", action: 'after' } });
  return signer.getSignedXml();
}
