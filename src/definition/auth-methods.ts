/** Auth methods, in the order they run where several are enabled. */
export const authMethods = ['oauth', 'externalOAuth', 'basic', 'hmac', 'jwt', 'oidc', 'custom', 'token'] as const;
export type AuthMethod = (typeof authMethods)[number];
