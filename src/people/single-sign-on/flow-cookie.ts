import type { Clock } from '#base/clock.ts';
import type { Vault } from '#base/vault.ts';
import { createSealedCookie } from './sealed-cookie.ts';
import type { SignOnTester } from './test-ticket.ts';

/** State of one sign-on through an identity provider. */
export interface SignOnFlow {
  readonly id: string;
  readonly profileId: string;
  /** Value that the provider sends back: `state` of OpenID Connect, the id of a SAML request. */
  readonly state: string;
  readonly nonce: string;
  /** PKCE code verifier (RFC 7636). */
  readonly verifier: string;
  readonly next: string;
  /** Of a test, which shows its outcome and opens no session. */
  readonly tester?: SignOnTester;
  readonly expiresAtMs: number;
}

/** Ports of one host share their cookies: each site has its own name. */
const siteFlows = {
  dashboard: { name: 'gw-sign-on', purpose: 'sign-on flow' },
  portal: { name: 'portal-sign-on', purpose: 'portal sign-on flow' },
} as const;

export type FlowCookies = ReturnType<typeof createFlowCookies>;

export function createFlowCookies(vault: Vault, clock: Clock, site: keyof typeof siteFlows = 'dashboard') {
  const cookie = createSealedCookie<SignOnFlow>(vault, clock, { ...siteFlows[site], path: '/tib' });
  return {
    format: cookie.format,
    formatExpired: cookie.formatExpired,
    /** The flow of a request to a profile; undefined where the browser did not begin one, or it has expired. */
    read(header: string | undefined, profileId: string): SignOnFlow | undefined {
      const flow = cookie.read(header);
      return flow?.profileId === profileId ? flow : undefined;
    },
  };
}
