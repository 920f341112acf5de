/** Fields no effect is written for yet: whoever writes one takes its name away. */
export const unproven: readonly string[] = [
  'token.label',
  'jwt.label',
  'basic.label',
  'oauth.label',
  'externalOAuth.label',
  'hmac.label',
  'oidc.label',
  'olderAuth.name',
];
