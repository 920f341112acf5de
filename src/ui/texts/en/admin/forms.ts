/** Texts of forms and lists of the admin app. */
const authNames: Readonly<Record<string, string>> = {
  authToken: 'API key',
  token: 'API key',
  ba: 'Basic authentication',
  basic: 'Basic authentication',
  jwt: 'JSON Web Token',
  oauth: 'OAuth 2.0',
  hmac: 'HMAC signature',
  keyless: 'No credential',
  custom: 'Custom authentication',
  multiAuth: 'API key and client certificate',
  mutualTLS: 'Client certificate',
  oidc: 'OpenID Connect',
};

export const adminFormTexts = {
  /** Ways of authentication. */
  authentication: authNames,
  delete: 'Delete',
  search: 'Search by name',
  fileMissing: 'Choose a file first',
  saved: (name: string) => `${name} was saved`,
} as const;
