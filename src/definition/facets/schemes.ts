import { z } from 'zod';
import type { Side, Values } from '../facet.ts';
import { facet } from '../facet.ts';
import { count, flag, optionalStatus, pattern, seconds, skewSeconds, text, texts } from '../rules.ts';
import { scopes, sources } from './authentication.ts';

/**
 * Ways in that OpenAPI itself can name. In the OpenAPI form each is an entry of `securitySchemes`, and the component
 * of the same name says of which kind it is: `@jwt` stands for the entry whose component is a JWT scheme.
 */
const signatureFields = (classic: string) =>
  ({
    signatureEnabled: {
      rule: flag,
      classic: `${classic}.validate_signature`,
      oas: 'signatureValidation.enabled',
      about: 'The caller must also sign the key.',
    },
    signatureAlgorithm: {
      rule: text,
      classic: `${classic}.signature.algorithm`,
      oas: 'signatureValidation.algorithm',
      about: 'How the signature is made.',
    },
    signatureHeader: {
      rule: text,
      classic: `${classic}.signature.header`,
      oas: 'signatureValidation.header',
      about: 'The header that carries it.',
    },
    signatureQueryEnabled: {
      rule: flag,
      classic: `${classic}.signature.use_param`,
      oas: 'signatureValidation.query.enabled',
      about: 'It may come in the query.',
    },
    signatureQueryName: {
      rule: text,
      classic: `${classic}.signature.param_name`,
      oas: 'signatureValidation.query.name',
      about: 'In which parameter.',
    },
    signatureSecret: {
      rule: text,
      reads: 'variables',
      secret: 'all',
      classic: `${classic}.signature.secret`,
      oas: 'signatureValidation.secret',
      about: 'The secret it is made with.',
    },
    signatureClockSkewSeconds: {
      rule: seconds,
      classic: `${classic}.signature.allowed_clock_skew`,
      oas: 'signatureValidation.allowedClockSkew',
      about: 'How old it may be.',
    },
    signatureErrorCode: {
      rule: optionalStatus,
      classic: `${classic}.signature.error_code`,
      oas: 'signatureValidation.errorCode',
      about: 'Status of a refusal; 0 for 401.',
    },
    signatureErrorMessage: {
      rule: text,
      reads: 'nothing',
      classic: `${classic}.signature.error_message`,
      oas: 'signatureValidation.errorMessage',
      about: 'Text of a refusal.',
    },
  }) as const;

export const token = facet({
  name: 'token',
  onlyWhenOn: true,
  about: 'Callers send a key.',
  classic: '',
  oas: '@token',
  fields: {
    enabled: { rule: flag, classic: 'use_standard_auth', about: 'Asks for a key.' },
    ...sources('auth_configs.authToken'),
    useCertificate: {
      rule: flag,
      classic: 'auth_configs.authToken.use_certificate',
      oas: ['enableClientCertificate', '/server.authentication.certificateAuth.enabled'],
      about: 'The client certificate may stand for the key.',
    },
    ...signatureFields('auth_configs.authToken'),
  },
});

export const jwt = facet({
  name: 'jwt',
  onlyWhenOn: true,
  about: 'Callers send a JSON Web Token.',
  classic: '',
  oas: '@jwt',
  fields: {
    enabled: { rule: flag, classic: 'enable_jwt', about: 'Asks for a token.' },
    ...sources('auth_configs.jwt'),
    source: {
      rule: text,
      reads: 'secret',
      secret: 'all',
      classic: 'jwt_source',
      about: 'The key, in base64, or the address of a key set.',
    },
    keySets: {
      list: {
        url: { rule: text, reads: 'secret', about: 'The address of a key set.' },
        cacheTimeout: {
          rule: z.union([z.string(), z.number()]).default(0),
          classic: 'cache_timeout',
          about: 'How long it is remembered.',
        },
      },
      classic: 'jwt_jwks_uris',
      oas: 'jwksURIs',
      about: 'Key sets trusted.',
    },
    signingMethod: { rule: text, classic: 'jwt_signing_method', about: 'hmac, rsa or ecdsa.' },
    identityBaseField: { rule: text, classic: 'jwt_identity_base_field', about: 'The claim that names the caller.' },
    subjectClaims: { rule: texts, classic: null, about: 'Several claims that may name the caller.' },
    skipKid: { rule: flag, classic: 'jwt_skip_kid', about: 'The kid header does not name the caller.' },
    policyFieldName: { rule: text, classic: 'jwt_policy_field_name', about: 'The claim that names the policy.' },
    basePolicyClaims: { rule: texts, classic: null, about: 'Several claims that may name the policy.' },
    clientBaseField: { rule: text, classic: 'jwt_client_base_field', about: 'The claim that names the client.' },
    defaultPolicies: { rule: texts, classic: 'jwt_default_policies', about: 'Policies of a token that names none.' },
    issuedAtSkewSeconds: {
      rule: skewSeconds,
      classic: 'jwt_issued_at_validation_skew',
      oas: 'issuedAtValidationSkew',
      about: 'How far in the future a token may have been issued.',
    },
    notBeforeSkewSeconds: {
      rule: skewSeconds,
      classic: 'jwt_not_before_validation_skew',
      oas: 'notBeforeValidationSkew',
      about: 'How much too early a token may be used.',
    },
    expiresAtSkewSeconds: {
      rule: skewSeconds,
      classic: 'jwt_expires_at_validation_skew',
      oas: 'expiresAtValidationSkew',
      about: 'How long after its end a token may be used.',
    },
    idpClientIdMappingDisabled: {
      rule: flag,
      classic: 'idp_client_id_mapping_disabled',
      about: 'Client claims do not connect the call with a client known here.',
    },
    ...scopes('scopes.jwt', { claim: 'jwt_scope_claim_name', map: 'jwt_scope_to_policy_mapping' }),
    allowedIssuers: { rule: texts, classic: null, about: 'Issuers accepted; empty for all.' },
    allowedAudiences: { rule: texts, classic: null, about: 'Audiences accepted; empty for all.' },
    allowedSubjects: { rule: texts, classic: null, about: 'Subjects accepted; empty for all.' },
    jtiRequired: { rule: flag, classic: null, oas: 'jtiValidation.enabled', about: 'A token must have an id.' },
    customClaims: {
      map: {
        type: { rule: text, about: 'required, exact_match or contains.' },
        allowedValues: { rule: z.array(z.unknown()).default([]), about: 'Values accepted.' },
        nonBlocking: { rule: flag, about: 'Only logs a failure.' },
      },
      classic: null,
      oas: 'customClaimValidation',
      about: 'Claim, by dotted path, to what is asked of it.',
    },
  },
  lens: { carries: [], complete: completeClaims },
});

/** A single claim and a list of claims are two ways to say one thing; either fills the other. */
function completeClaims(values: Values): Values {
  const pairs = [
    ['identityBaseField', 'subjectClaims'],
    ['policyFieldName', 'basePolicyClaims'],
    ['scopeClaimName', 'scopeClaims'],
  ] as const;
  const filled = { ...values };
  for (const [one, several] of pairs) {
    const claims = values[several] as string[];
    filled[one] = values[one] || (claims[0] ?? '');
    if (claims.length === 0 && filled[one] !== '') filled[several] = [filled[one]];
  }
  return filled;
}

export const basic = facet({
  name: 'basic',
  onlyWhenOn: true,
  about: 'Callers send user name and password.',
  classic: 'basic_auth',
  oas: '@basic',
  fields: {
    enabled: { rule: flag, classic: '/use_basic_auth', about: 'Asks for them.' },
    ...sources('/auth_configs.basic'),
    disableCaching: { rule: flag, classic: 'disable_caching', about: 'Checks the password each time.' },
    cacheTTL: { rule: seconds, classic: 'cache_ttl', about: 'Seconds a checked password is remembered; 0 for 60.' },
    extractFromBody: {
      rule: flag,
      classic: 'extract_from_body',
      oas: 'extractCredentialsFromBody.enabled',
      about: 'Looks for them in the body too.',
    },
    userRegexp: {
      rule: pattern,
      classic: 'body_user_regexp',
      oas: 'extractCredentialsFromBody.userRegexp',
      about: 'Its first group is the user name.',
    },
    passwordRegexp: {
      rule: pattern,
      classic: 'body_password_regexp',
      oas: 'extractCredentialsFromBody.passwordRegexp',
      about: 'Its first group is the password.',
    },
  },
});

export const oauth = facet({
  name: 'oauth',
  onlyWhenOn: true,
  about: 'Callers send a token that the gateway itself issued.',
  classic: '',
  oas: '@oauth',
  fields: {
    enabled: { rule: flag, classic: 'use_oauth2', about: 'Issues tokens and asks for them.' },
    ...sources('auth_configs.oauth'),
    allowedAuthorizeTypes: {
      rule: texts,
      classic: 'oauth_meta.allowed_authorize_types',
      about: 'code or token.',
    },
    allowedAccessTypes: {
      rule: texts,
      classic: 'oauth_meta.allowed_access_types',
      about: 'The grants offered; when empty, those of the flows of the component.',
    },
    refreshToken: { rule: flag, classic: null, about: 'Issues refresh tokens.' },
    authLoginRedirect: {
      rule: text,
      reads: 'secret',
      classic: 'oauth_meta.auth_login_redirect',
      about: 'Where a person is sent to sign in.',
    },
    notifySecret: {
      rule: text,
      reads: 'secret',
      secret: 'all',
      classic: 'notifications.shared_secret',
      oas: 'notifications.sharedSecret',
      about: 'Sent along with notices of new tokens.',
    },
    notifyUrl: {
      rule: text,
      reads: 'secret',
      classic: 'notifications.oauth_on_keychange_url',
      oas: 'notifications.onKeyChangeUrl',
      about: 'Told of every new token.',
    },
  },
  lens: { carries: ['refreshToken'], complete: completeGrants },
});

/** The classic form has the refresh token among the grants. */
function completeGrants(values: Values, from: Side): Values {
  const grants = values.allowedAccessTypes as string[];
  if (from === 'classic') return { ...values, refreshToken: grants.includes('refresh_token') };
  if (values.refreshToken !== true || grants.includes('refresh_token')) return values;
  return { ...values, allowedAccessTypes: [...grants, 'refresh_token'] };
}

const prefixed = (name: string, classic: string, oas = name) => ({ classic: `jwt.${classic}`, oas: `jwt.${oas}` });
const asked = (classic: string, oas: string) => ({ classic: `introspection.${classic}`, oas: `introspection.${oas}` });

export const externalOAuth = facet({
  name: 'externalOAuth',
  onlyWhenOn: true,
  about: 'Callers send a token that another server issued.',
  classic: 'external_oauth',
  oas: '@externalOAuth',
  fields: {
    enabled: { rule: flag, about: 'Asks for a token.' },
    ...sources('/auth_configs.externalOAuth'),
    providers: {
      list: {
        jwtEnabled: { rule: flag, ...prefixed('enabled', 'enabled'), about: 'Checks the token here.' },
        signingMethod: { rule: text, ...prefixed('signingMethod', 'signing_method'), about: 'hmac, rsa or ecdsa.' },
        source: {
          rule: text,
          reads: 'secret',
          secret: 'all',
          ...prefixed('source', 'source'),
          about: 'The key, or the address of a key set.',
        },
        identityBaseField: {
          rule: text,
          ...prefixed('identityBaseField', 'identity_base_field'),
          about: 'The claim that names the caller.',
        },
        issuedAtSkewSeconds: {
          rule: skewSeconds,
          ...prefixed('issuedAtValidationSkew', 'issued_at_validation_skew'),
          about: 'How far in the future a token may have been issued.',
        },
        notBeforeSkewSeconds: {
          rule: skewSeconds,
          ...prefixed('notBeforeValidationSkew', 'not_before_validation_skew'),
          about: 'How much too early a token may be used.',
        },
        expiresAtSkewSeconds: {
          rule: skewSeconds,
          ...prefixed('expiresAtValidationSkew', 'expires_at_validation_skew'),
          about: 'How long after its end a token may be used.',
        },
        introspectionEnabled: { rule: flag, ...asked('enabled', 'enabled'), about: 'Asks the server that issued it.' },
        url: { rule: text, reads: 'secret', ...asked('url', 'url'), about: 'The introspection address.' },
        clientId: { rule: text, reads: 'secret', ...asked('client_id', 'clientId'), about: 'Client id there.' },
        clientSecret: {
          rule: text,
          reads: 'secret',
          secret: 'all',
          ...asked('client_secret', 'clientSecret'),
          about: 'Client secret there.',
        },
        introspectionIdentityField: {
          rule: text,
          ...asked('identity_base_field', 'identityBaseField'),
          about: 'The member of the reply that names the caller.',
        },
        cacheEnabled: { rule: flag, ...asked('cache.enabled', 'cache.enabled'), about: 'Remembers replies.' },
        cacheSeconds: { rule: count, ...asked('cache.timeout', 'cache.timeout'), about: 'How long; 0 for ever.' },
      },
      about: 'Who issued the token; the first one counts.',
    },
  },
});

/** The older place of key settings, read for the token and JWT modes when they have no settings of their own. */
export const olderAuth = facet({
  name: 'olderAuth',
  about: 'Key settings from before every mode had its own.',
  classic: 'auth',
  oas: null,
  fields: {
    name: { rule: text, about: 'A label.' },
    disableHeader: { rule: flag, classic: 'disable_header', about: 'Does not look in a header.' },
    headerName: { rule: text, classic: 'auth_header_name', about: 'The header.' },
    queryEnabled: { rule: flag, classic: 'use_param', about: 'Looks in a query parameter.' },
    queryName: { rule: text, classic: 'param_name', about: 'That parameter.' },
    cookieEnabled: { rule: flag, classic: 'use_cookie', about: 'Looks in a cookie.' },
    cookieName: { rule: text, classic: 'cookie_name', about: 'That cookie.' },
    useCertificate: { rule: flag, classic: 'use_certificate', about: 'The client certificate may stand for the key.' },
    ...classicOnly(signatureFields('/auth')),
  },
});

function classicOnly<T extends Record<string, object>>(fields: T) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, oas: null }])) as {
    [K in keyof T]: Omit<T[K], 'oas'> & { oas: null };
  };
}

export const schemeAnchors = ['token', 'jwt', 'basic', 'oauth', 'externalOAuth', 'oauth2'] as const;
export type SchemeKind = (typeof schemeAnchors)[number];
