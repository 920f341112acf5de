/** The order is the one in which several ways in are gone through. */
export const authMethods = ['oauth', 'externalOAuth', 'basic', 'hmac', 'jwt', 'oidc', 'custom', 'token'] as const;
export type AuthMethod = (typeof authMethods)[number];
