import { z } from 'zod';
import { formatPortalTime } from '#base/clock.ts';

/** `Expires` of a credential that never expires: a parseable time far in the future. */
export const neverExpires = '9999-12-31 23:59';

/** Credential of an app: a key of the provider. */
export interface StoredCredential {
  ID: number;
  AccessRequestID: number;
  /** The key itself. */
  Credential: string;
  CredentialHash: string;
  /** 0 is never. */
  Expires: number;
  CreatedAt: number;
}

/** OAuth members, empty for keys. */
const emptyOAuthMembers = {
  OAuthClientID: '',
  OAuthClientSecret: '',
  GrantType: '',
  ResponseType: '',
  Scope: '',
  TokenEndpoints: '',
  RedirectURI: '',
  JWKSURI: '',
  DCRRegistrationAccessToken: '',
  DCRRegistrationClientURI: '',
  DCRResponse: '',
};

export const Credential = z.object({
  ID: z.int(),
  AccessRequest: z.string(),
  Credential: z.string(),
  CredentialHash: z.string(),
  Expires: z.string(),
  ...(Object.fromEntries(Object.keys(emptyOAuthMembers).map(name => [name, z.string()])) as Record<
    keyof typeof emptyOAuthMembers,
    z.ZodString
  >),
});

export const toCredentialView = (it: StoredCredential): z.output<typeof Credential> => ({
  ID: it.ID,
  AccessRequest: `AccessRequest#${it.AccessRequestID}`,
  Credential: it.Credential,
  CredentialHash: it.CredentialHash,
  Expires: it.Expires === 0 ? neverExpires : formatPortalTime(it.Expires),
  ...emptyOAuthMembers,
});
