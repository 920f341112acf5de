import { constantTimeEqual } from '#base/constant-time.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** Verifies signature and times of a JWT with a published key set; undefined for an invalid one. */
export type VerifySignedToken = (token: {
  readonly orgId: string;
  readonly jwksUrl: string;
  readonly text: string;
}) => Promise<Claims | undefined>;

export interface ExpectedIdToken {
  readonly issuer: string;
  readonly clientId: string;
  readonly nonce: string;
}

/** ID token validation (OpenID Connect Core 1.0, section 3.1.3.7) after the signature; undefined where it passes. */
export function findIdTokenFault(claims: Claims, { issuer, clientId, nonce }: ExpectedIdToken): string | undefined {
  const { iss, aud, azp, sub, exp, iat } = claims;
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (iss !== issuer) return 'issuer mismatch';
  if (!audiences.includes(clientId)) return 'audience mismatch';
  if (azp === undefined ? audiences.length > 1 : azp !== clientId) return 'authorized party mismatch';
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) return 'subject missing';
  if (exp === undefined || iat === undefined) return 'iat or exp missing';
  if (typeof claims.nonce !== 'string' || !constantTimeEqual(claims.nonce, nonce)) return 'nonce mismatch';
  return undefined;
}
