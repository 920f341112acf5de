import { deflateRawSync } from 'node:zlib';
import { formatIsoTime } from '#base/clock.ts';
import { escapeMarkup } from '#base/escape-markup.ts';
import type { SamlProvider } from './metadata.ts';

export interface SamlRequest {
  readonly id: string;
  readonly entityId: string;
  /** Assertion consumer service. */
  readonly redirectUrl: string;
  readonly forcesAuthentication: boolean;
  readonly nowMs: number;
}

/** Authentication request (SAML 2.0 Core, section 3.4.1) in the HTTP-Redirect binding. */
export function buildRequestUrl({ signOnUrl }: SamlProvider, request: SamlRequest): string {
  const xml = [
    '<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" Version="2.0"',
    ` ID="${request.id}" IssueInstant="${formatIsoTime(request.nowMs)}" Destination="${escapeMarkup(signOnUrl)}"`,
    ' ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"',
    ` AssertionConsumerServiceURL="${escapeMarkup(request.redirectUrl)}"`,
    request.forcesAuthentication ? ' ForceAuthn="true">' : '>',
    `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${escapeMarkup(request.entityId)}</saml:Issuer>`,
    '<samlp:NameIDPolicy AllowCreate="true"/></samlp:AuthnRequest>',
  ].join('');
  const url = new URL(signOnUrl);
  url.searchParams.set('SAMLRequest', deflateRawSync(xml).toString('base64'));
  return url.href;
}
