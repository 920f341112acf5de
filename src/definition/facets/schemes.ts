import { facet } from '../facet.ts';
import { flagRule, optionalStatusRule, regexRule, secondsRule, textRule } from '../rules.ts';
import { authSourceFields } from './authentication.ts';

/**
 * Auth methods that OpenAPI can express. In the OpenAPI format each is an entry of `securitySchemes` whose component of
 * the same name gives its kind: `@jwt` stands for the entry whose component is a JWT scheme.
 */
const signatureFields = (classic: string) =>
  ({
    signatureEnabled: {
      rule: flagRule,
      classic: `${classic}.validate_signature`,
      oas: 'signatureValidation.enabled',
      about: 'Requires a signature of the key.',
    },
    signatureAlgorithm: {
      rule: textRule,
      classic: `${classic}.signature.algorithm`,
      oas: 'signatureValidation.algorithm',
      about: 'Signature algorithm.',
    },
    signatureHeader: {
      rule: textRule,
      classic: `${classic}.signature.header`,
      oas: 'signatureValidation.header',
      about: 'Name of the header with the signature.',
    },
    signatureQueryEnabled: {
      rule: flagRule,
      classic: `${classic}.signature.use_param`,
      oas: 'signatureValidation.query.enabled',
      about: 'Reads the signature from a query parameter.',
    },
    signatureQueryName: {
      rule: textRule,
      classic: `${classic}.signature.param_name`,
      oas: 'signatureValidation.query.name',
      about: 'Name of the query parameter with the signature.',
    },
    signatureSecret: {
      rule: textRule,
      interpolation: 'variables',
      secret: 'all',
      classic: `${classic}.signature.secret`,
      oas: 'signatureValidation.secret',
      about: 'Shared secret of the signature.',
    },
    signatureClockSkewSeconds: {
      rule: secondsRule,
      classic: `${classic}.signature.allowed_clock_skew`,
      oas: 'signatureValidation.allowedClockSkew',
      about: 'Maximum age of the signature in seconds.',
    },
    signatureErrorCode: {
      rule: optionalStatusRule,
      classic: `${classic}.signature.error_code`,
      oas: 'signatureValidation.errorCode',
      about: 'Status of the error response; 0 for 401.',
    },
    signatureErrorMessage: {
      rule: textRule,
      interpolation: 'nothing',
      classic: `${classic}.signature.error_message`,
      oas: 'signatureValidation.errorMessage',
      about: 'Message of the error response.',
    },
  }) as const;

export const token = facet({
  name: 'token',
  convertsOnlyWhenEnabled: true,
  about: 'API keys.',
  classic: '',
  oas: '@token',
  fields: {
    enabled: { rule: flagRule, classic: 'use_standard_auth', about: 'Enables API keys.' },
    ...authSourceFields('auth_configs.authToken'),
    useCertificate: {
      rule: flagRule,
      classic: 'auth_configs.authToken.use_certificate',
      oas: ['enableClientCertificate', '/server.authentication.certificateAuth.enabled'],
      about: 'Accepts the client certificate in place of the key.',
    },
    ...signatureFields('auth_configs.authToken'),
  },
});

export const basic = facet({
  name: 'basic',
  convertsOnlyWhenEnabled: true,
  about: 'Basic authentication with user name and password.',
  classic: 'basic_auth',
  oas: '@basic',
  fields: {
    enabled: { rule: flagRule, classic: '/use_basic_auth', about: 'Enables basic authentication.' },
    ...authSourceFields('/auth_configs.basic'),
    disableCaching: { rule: flagRule, classic: 'disable_caching', about: 'Disables caching of verified passwords.' },
    cacheTTL: {
      rule: secondsRule,
      classic: 'cache_ttl',
      about: 'Time in seconds for which a verified password is cached; 0 for 60.',
    },
    extractFromBody: {
      rule: flagRule,
      classic: 'extract_from_body',
      oas: 'extractCredentialsFromBody.enabled',
      about: 'Reads the credentials from the request body too.',
    },
    userRegexp: {
      rule: regexRule,
      classic: 'body_user_regexp',
      oas: 'extractCredentialsFromBody.userRegexp',
      about: 'Regular expression whose first group is the user name.',
    },
    passwordRegexp: {
      rule: regexRule,
      classic: 'body_password_regexp',
      oas: 'extractCredentialsFromBody.passwordRegexp',
      about: 'Regular expression whose first group is the password.',
    },
  },
});

/** Older location of key settings, read for token and JWT where they have no settings of their own. */
export const olderAuth = facet({
  name: 'olderAuth',
  about: 'Older key settings, shared by all auth methods.',
  classic: 'auth',
  oas: null,
  fields: {
    name: { rule: textRule, about: 'Name of the settings.' },
    disableHeader: { rule: flagRule, classic: 'disable_header', about: 'Does not read the credential from a header.' },
    headerName: { rule: textRule, classic: 'auth_header_name', about: 'Name of the header.' },
    queryEnabled: { rule: flagRule, classic: 'use_param', about: 'Reads the credential from a query parameter.' },
    queryName: { rule: textRule, classic: 'param_name', about: 'Name of the query parameter.' },
    cookieEnabled: { rule: flagRule, classic: 'use_cookie', about: 'Reads the credential from a cookie.' },
    cookieName: { rule: textRule, classic: 'cookie_name', about: 'Name of the cookie.' },
    useCertificate: {
      rule: flagRule,
      classic: 'use_certificate',
      about: 'Accepts the client certificate in place of the key.',
    },
    ...classicOnly(signatureFields('/auth')),
  },
});

function classicOnly<T extends Record<string, object>>(fields: T) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, oas: null }])) as {
    [K in keyof T]: Omit<T[K], 'oas'> & { oas: null };
  };
}

export const schemeKinds = ['token', 'jwt', 'basic', 'oauth', 'externalOAuth', 'oauth2'] as const;
export type SchemeKind = (typeof schemeKinds)[number];
