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
