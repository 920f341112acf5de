import type { OauthCodeStore } from './code-store.ts';
import type { OauthTokenKind, OauthTokenStore } from './token-store.ts';

export interface TokenToRevoke {
  readonly token: string;
  /** `access_token` or `refresh_token`; anything else means both. */
  readonly hint?: string | undefined;
  /** Only a token of this client. */
  readonly clientId?: string | undefined;
}

/** Revokes a token (RFC 7009). A refresh token takes all tokens of its grant with it. */
export async function revokeToken(
  { oauthTokens }: { oauthTokens: OauthTokenStore },
  apiId: string,
  { token, hint, clientId }: TokenToRevoke,
): Promise<void> {
  const findOwnToken = async (kind: OauthTokenKind) => {
    const stored = await oauthTokens.find(apiId, kind, token);
    return clientId === undefined || stored?.clientId === clientId ? stored : undefined;
  };
  if (hint !== 'refresh_token' && (await findOwnToken('access'))) await oauthTokens.remove(apiId, 'access', token);
  const refresh = hint === 'access_token' ? undefined : await findOwnToken('refresh');
  if (refresh) await oauthTokens.removeGrant(refresh.grantId);
}

/** Revokes all tokens and pending authorization codes of a client. */
export async function revokeClient(
  { oauthTokens, oauthCodes }: { oauthTokens: OauthTokenStore; oauthCodes: OauthCodeStore },
  apiId: string,
  clientId: string,
): Promise<void> {
  await oauthTokens.removeOfClient(apiId, clientId);
  await oauthCodes.removeOfClient(apiId, clientId);
}
