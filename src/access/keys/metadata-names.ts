import { isObject } from '#base/json-tree.ts';

/** Names in the metadata of keys that the gateway reads or sets. */
export const metadataNames = {
  counterPattern: 'rate_limit_pattern',
  developerId: 'gw_developer_id',
  policies: 'policies',
  token: 'token',
  jwtSession: 'GwJWTSessionID',
  oidcClient: 'ClientID',
} as const;

const reserved = new Set(Object.values(metadataNames).map(name => name.toLowerCase()));

/** True for names that values of users must not set, without regard to case; those to come begin with `gw_`. */
export const isGatewayMetadata = (name: string): boolean => {
  const folded = name.toLowerCase();
  return folded.startsWith('gw_') || reserved.has(folded);
};

/** Metadata of an OAuth client for its tokens: without policies, which would replace those that the tokens name. */
export function toTokenMetadata(metaData: unknown): Record<string, unknown> {
  const { [metadataNames.policies]: _embedded, ...others } = isObject(metaData) ? metaData : {};
  return others;
}
