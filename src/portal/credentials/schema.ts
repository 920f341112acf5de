import { z } from 'zod';
import { formatPortalTime } from '#base/clock.ts';
import type { BoundCertificate } from '../certificates/schema.ts';
import type { StoredOauthClient } from '../oauth-clients/schema.ts';
import { formatOptionalTime } from '../shapes.ts';

/** `Expires` of a credential that never expires: a parseable time far in the future. */
export const neverExpires = '9999-12-31 23:59';

/** Credential of an app: a key of the provider, or an OAuth client of an identity provider. */
export interface StoredCredential {
  ID: number;
  AccessRequestID: number;
  /** The key itself; empty for an OAuth client. */
  Credential: string;
  CredentialHash: string;
  /** 0 is never. */
  Expires: number;
  /** OAuth client of the credential; 0 or absent for a key. */
  OauthClientID?: number | undefined;
  /** That client, as read with the credential; it is stored apart. */
  Client?: StoredOauthClient;
  CreatedAt: number;
  /** Time at which the site showed the key, which it does once; 0 or absent before. */
  RevealedAt?: number;
  /** Time of the last rotation; absent before. */
  RotatedAt?: number;
  /** Key before the last rotation while it is valid; `Until` is 0 where it only waits for its removal. */
  Former?: { readonly CredentialHash: string; readonly Until: number };
  /** Client certificates that its keys are bound to; absent where its products require none. */
  Certificates?: readonly BoundCertificate[];
  /** Hashes of rotated keys, newest first: their calls are usage of the app too. */
  FormerHashes?: readonly string[];
}

const maxFormerHashes = 20;

/** Hashes of the current key and of earlier ones. */
export const listKeyHashes = ({
  CredentialHash,
  FormerHashes = [],
}: Pick<StoredCredential, 'CredentialHash' | 'FormerHashes'>): string[] =>
  [CredentialHash, ...FormerHashes].filter(Boolean);

/** Hashes that are former ones when the key is replaced. */
export const listFormerHashes = (credential: StoredCredential): string[] =>
  listKeyHashes(credential).slice(0, maxFormerHashes);

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

const toOAuthMembers = (client: StoredOauthClient): typeof emptyOAuthMembers => ({
  OAuthClientID: client.ClientID,
  OAuthClientSecret: client.ClientSecret,
  GrantType: client.GrantType,
  ResponseType: client.ResponseType,
  Scope: client.Scope,
  TokenEndpoints: client.AuthMethod,
  RedirectURI: client.RedirectURIs.join(','),
  JWKSURI: client.JwksURI,
  DCRRegistrationAccessToken: client.RegistrationToken,
  DCRRegistrationClientURI: client.RegistrationURI,
  DCRResponse: client.Response,
});

export const Credential = z.object({
  ID: z.int(),
  AccessRequest: z.string(),
  Credential: z.string(),
  CredentialHash: z.string(),
  Expires: z.string(),
  OldCredentialHash: z.string().describe('Hash of the key before the last rotation, while it is accepted'),
  OldValidUntil: z.string().describe('Time until which that key is accepted'),
  Certificates: z
    .array(z.object({ ID: z.int(), State: z.enum(['attaching', 'attached', 'detaching']) }))
    .describe('Client certificates that the key is accepted with; a change is unfinished while its provider fails'),
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
  OldCredentialHash: it.Former?.CredentialHash ?? '',
  OldValidUntil: it.Former ? formatOptionalTime(it.Former.Until || it.RotatedAt || 0) : '',
  Certificates: [...(it.Certificates ?? [])],
  ...(it.Client ? toOAuthMembers(it.Client) : emptyOAuthMembers),
});
