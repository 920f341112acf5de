import type { Clock } from '#base/clock.ts';
import type { Vault } from '#base/vault.ts';
import { readSessionCookie } from '#operations/session-cookie.ts';

export const flowTtlSeconds = 600;
const maxCookieLength = 4096;

interface CookieOptions {
  readonly name: string;
  /** Purpose of the seal: a state of another kind is none of this one. */
  readonly purpose: string;
  readonly path: string;
}

/**
 * Browser binding: state of a redirect through an identity provider, sealed in a cookie, so that only the browser that
 * began the redirect can complete it. `SameSite=Lax`: the provider is another site.
 */
export function createSealedCookie<State extends { readonly expiresAtMs: number }>(
  vault: Vault,
  clock: Clock,
  { name, purpose, path }: CookieOptions,
) {
  const format = (value: string, maxAge: number, isSecure: boolean) =>
    `${name}=${value}; Max-Age=${maxAge}; Path=${path}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

  function open(sealed: string): State | undefined {
    try {
      return JSON.parse(vault.open(sealed, purpose)) as State;
    } catch {
      // Changed by the client, or sealed by another installation.
      return undefined;
    }
  }

  return {
    format: (state: State, isSecure: boolean) =>
      format(vault.seal(JSON.stringify(state), purpose), flowTtlSeconds, isSecure),
    formatExpired: (isSecure: boolean) => format('', 0, isSecure),
    /** The state of a request; undefined where the browser did not begin a redirect, or it has expired. */
    read(header: string | undefined): State | undefined {
      const sealed = readSessionCookie(header, name);
      const state = sealed !== undefined && sealed.length <= maxCookieLength ? open(sealed) : undefined;
      return state && state.expiresAtMs > clock.now() ? state : undefined;
    },
  };
}
