import type { Clock } from '#base/clock.ts';
import type { Vault } from '#base/vault.ts';
import { readSessionCookie } from '#operations/session-cookie.ts';

/**
 * State of one redirect through an identity provider. Browser binding: it is sealed in a cookie, so that only the browser
 * that began a flow can complete it.
 */
export interface SignOnFlow {
  readonly id: string;
  readonly profileId: string;
  /** Value that the provider sends back: `state` of OpenID Connect, the id of a SAML request. */
  readonly state: string;
  readonly nonce: string;
  /** PKCE code verifier (RFC 7636). */
  readonly verifier: string;
  readonly next: string;
  readonly expiresAtMs: number;
}

export const flowTtlSeconds = 600;
/** Ports of one host share their cookies: each site has its own name. */
const siteFlows = {
  dashboard: { name: 'gw-sign-on', purpose: 'sign-on flow' },
  portal: { name: 'portal-sign-on', purpose: 'portal sign-on flow' },
} as const;
const attributes = 'Path=/tib; HttpOnly; SameSite=Lax';
const maxCookieLength = 4096;

export type FlowCookies = ReturnType<typeof createFlowCookies>;

export function createFlowCookies(vault: Vault, clock: Clock, site: keyof typeof siteFlows = 'dashboard') {
  const { name, purpose } = siteFlows[site];
  const format = (value: string, maxAge: number, isSecure: boolean) =>
    `${name}=${value}; Max-Age=${maxAge}; ${attributes}${isSecure ? '; Secure' : ''}`;

  function open(sealed: string): SignOnFlow | undefined {
    try {
      return JSON.parse(vault.open(sealed, purpose)) as SignOnFlow;
    } catch {
      // Changed by the client, or sealed by another installation.
      return undefined;
    }
  }

  return {
    format: (flow: SignOnFlow, isSecure: boolean) =>
      format(vault.seal(JSON.stringify(flow), purpose), flowTtlSeconds, isSecure),
    formatExpired: (isSecure: boolean) => format('', 0, isSecure),
    /** The flow of a request to a profile; undefined where the browser did not begin one, or it has expired. */
    read(header: string | undefined, profileId: string): SignOnFlow | undefined {
      const sealed = readSessionCookie(header, name);
      const flow = sealed !== undefined && sealed.length <= maxCookieLength ? open(sealed) : undefined;
      return flow?.profileId === profileId && flow.expiresAtMs > clock.now() ? flow : undefined;
    },
  };
}
