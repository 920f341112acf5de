import { z } from 'zod';
import type { DefinitionFormat, Values } from '../facet.ts';
import { facet } from '../facet.ts';
import {
  countRule,
  flagRule,
  optionalStatusRule,
  regexRule,
  secondsRule,
  skewSecondsRule,
  textListRule,
  textRule,
} from '../rules.ts';
import { authSourceFields, scopeFields } from './authentication.ts';

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
      about: 'The caller must also sign the key.',
    },
    signatureAlgorithm: {
      rule: textRule,
      classic: `${classic}.signature.algorithm`,
      oas: 'signatureValidation.algorithm',
      about: 'How the signature is made.',
    },
    signatureHeader: {
      rule: textRule,
      classic: `${classic}.signature.header`,
      oas: 'signatureValidation.header',
      about: 'The header that carries it.',
    },
    signatureQueryEnabled: {
      rule: flagRule,
      classic: `${classic}.signature.use_param`,
      oas: 'signatureValidation.query.enabled',
      about: 'It may come in the query.',
    },
    signatureQueryName: {
      rule: textRule,
      classic: `${classic}.signature.param_name`,
      oas: 'signatureValidation.query.name',
      about: 'In which parameter.',
    },
    signatureSecret: {
      rule: textRule,
      interpolation: 'variables',
      secret: 'all',
      classic: `${classic}.signature.secret`,
      oas: 'signatureValidation.secret',
      about: 'The secret it is made with.',
    },
    signatureClockSkewSeconds: {
      rule: secondsRule,
      classic: `${classic}.signature.allowed_clock_skew`,
      oas: 'signatureValidation.allowedClockSkew',
      about: 'How old it may be.',
    },
    signatureErrorCode: {
      rule: optionalStatusRule,
      classic: `${classic}.signature.error_code`,
      oas: 'signatureValidation.errorCode',
      about: 'Status of a refusal; 0 for 401.',
    },
    signatureErrorMessage: {
      rule: textRule,
      interpolation: 'nothing',
      classic: `${classic}.signature.error_message`,
      oas: 'signatureValidation.errorMessage',
      about: 'Text of a refusal.',
    },
  }) as const;

export const token = facet({
  name: 'token',
  convertsOnlyWhenEnabled: true,
  about: 'Callers send a key.',
  classic: '',
  oas: '@token',
  fields: {
    enabled: { rule: flagRule, classic: 'use_standard_auth', about: 'Asks for a key.' },
    ...authSourceFields('auth_configs.authToken'),
    useCertificate: {
      rule: flagRule,
      classic: 'auth_configs.authToken.use_certificate',
      oas: ['enableClientCertificate', '/server.authentication.certificateAuth.enabled'],
      about: 'The client certificate may stand for the key.',
    },
    ...signatureFields('auth_configs.authToken'),
  },
});

export const jwt = facet({
  name: 'jwt',
  convertsOnlyWhenEnabled: true,
  about: 'Callers send a JSON Web Token.',
  classic: '',
  oas: '@jwt',
  fields: {
    enabled: { rule: flagRule, classic: 'enable_jwt', about: 'Asks for a token.' },
    ...authSourceFields('auth_configs.jwt'),
    source: {
      rule: textRule,
      interpolation: 'secret',
      secret: 'all',
      classic: 'jwt_source',
      about: 'The key, in base64, or the address of a key set.',
    },
    keySets: {
      list: {
        url: { rule: textRule, interpolation: 'secret', about: 'The address of a key set.' },
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
    signingMethod: { rule: textRule, classic: 'jwt_signing_method', about: 'hmac, rsa or ecdsa.' },
    identityBaseField: {
      rule: textRule,
      classic: 'jwt_identity_base_field',
      about: 'The claim that names the caller.',
    },
    subjectClaims: { rule: textListRule, classic: null, about: 'Several claims that may name the caller.' },
    skipKid: { rule: flagRule, classic: 'jwt_skip_kid', about: 'The kid header does not name the caller.' },
    policyFieldName: { rule: textRule, classic: 'jwt_policy_field_name', about: 'The claim that names the policy.' },
    basePolicyClaims: { rule: textListRule, classic: null, about: 'Several claims that may name the policy.' },
    clientBaseField: { rule: textRule, classic: 'jwt_client_base_field', about: 'The claim that names the client.' },
    defaultPolicies: {
      rule: textListRule,
      classic: 'jwt_default_policies',
      about: 'Policies of a token that names none.',
    },
    issuedAtSkewSeconds: {
      rule: skewSecondsRule,
      classic: 'jwt_issued_at_validation_skew',
      oas: 'issuedAtValidationSkew',
      about: 'How far in the future a token may have been issued.',
    },
    notBeforeSkewSeconds: {
      rule: skewSecondsRule,
      classic: 'jwt_not_before_validation_skew',
      oas: 'notBeforeValidationSkew',
      about: 'How much too early a token may be used.',
    },
    expiresAtSkewSeconds: {
      rule: skewSecondsRule,
      classic: 'jwt_expires_at_validation_skew',
      oas: 'expiresAtValidationSkew',
      about: 'How long after its end a token may be used.',
    },
    idpClientIdMappingDisabled: {
      rule: flagRule,
      classic: 'idp_client_id_mapping_disabled',
      about: 'Client claims do not connect the call with a client known here.',
    },
    ...scopeFields('scopes.jwt', { claim: 'jwt_scope_claim_name', map: 'jwt_scope_to_policy_mapping' }),
    allowedIssuers: { rule: textListRule, classic: null, about: 'Issuers accepted; empty for all.' },
    allowedAudiences: { rule: textListRule, classic: null, about: 'Audiences accepted; empty for all.' },
    allowedSubjects: { rule: textListRule, classic: null, about: 'Subjects accepted; empty for all.' },
    jtiRequired: { rule: flagRule, classic: null, oas: 'jtiValidation.enabled', about: 'A token must have an id.' },
    customClaims: {
      map: {
        type: { rule: textRule, about: 'required, exact_match or contains.' },
        allowedValues: { rule: z.array(z.unknown()).default([]), about: 'Values accepted.' },
        nonBlocking: { rule: flagRule, about: 'Only logs a failure.' },
      },
      classic: null,
      oas: 'customClaimValidation',
      about: 'Claim, by dotted path, to what is asked of it.',
    },
  },
  lens: { fields: [], derive: deriveClaims },
});

/** A single claim and a list of claims are two notations of one setting; either fills the other. */
function deriveClaims(values: Values): Values {
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
  convertsOnlyWhenEnabled: true,
  about: 'Callers send user name and password.',
  classic: 'basic_auth',
  oas: '@basic',
  fields: {
    enabled: { rule: flagRule, classic: '/use_basic_auth', about: 'Asks for them.' },
    ...authSourceFields('/auth_configs.basic'),
    disableCaching: { rule: flagRule, classic: 'disable_caching', about: 'Checks the password each time.' },
    cacheTTL: { rule: secondsRule, classic: 'cache_ttl', about: 'Seconds a checked password is remembered; 0 for 60.' },
    extractFromBody: {
      rule: flagRule,
      classic: 'extract_from_body',
      oas: 'extractCredentialsFromBody.enabled',
      about: 'Looks for them in the body too.',
    },
    userRegexp: {
      rule: regexRule,
      classic: 'body_user_regexp',
      oas: 'extractCredentialsFromBody.userRegexp',
      about: 'Its first group is the user name.',
    },
    passwordRegexp: {
      rule: regexRule,
      classic: 'body_password_regexp',
      oas: 'extractCredentialsFromBody.passwordRegexp',
      about: 'Its first group is the password.',
    },
  },
});

export const oauth = facet({
  name: 'oauth',
  convertsOnlyWhenEnabled: true,
  about: 'Callers send a token that the gateway itself issued.',
  classic: '',
  oas: '@oauth',
  fields: {
    enabled: { rule: flagRule, classic: 'use_oauth2', about: 'Issues tokens and asks for them.' },
    ...authSourceFields('auth_configs.oauth'),
    allowedAuthorizeTypes: {
      rule: textListRule,
      classic: 'oauth_meta.allowed_authorize_types',
      about: 'code or token.',
    },
    allowedAccessTypes: {
      rule: textListRule,
      classic: 'oauth_meta.allowed_access_types',
      about: 'The grants offered; when empty, those of the flows of the component.',
    },
    refreshToken: { rule: flagRule, classic: null, about: 'Issues refresh tokens.' },
    authLoginRedirect: {
      rule: textRule,
      interpolation: 'secret',
      classic: 'oauth_meta.auth_login_redirect',
      about: 'Where a person is sent to sign in.',
    },
    notifySecret: {
      rule: textRule,
      interpolation: 'secret',
      secret: 'all',
      classic: 'notifications.shared_secret',
      oas: 'notifications.sharedSecret',
      about: 'Sent along with notices of new tokens.',
    },
    notifyUrl: {
      rule: textRule,
      interpolation: 'secret',
      classic: 'notifications.oauth_on_keychange_url',
      oas: 'notifications.onKeyChangeUrl',
      about: 'Notified of every new token.',
    },
  },
  lens: { fields: ['refreshToken'], derive: deriveGrants },
});

/** The classic format has the refresh token among the grants. */
function deriveGrants(values: Values, from: DefinitionFormat): Values {
  const grants = values.allowedAccessTypes as string[];
  if (from === 'classic') return { ...values, refreshToken: grants.includes('refresh_token') };
  if (values.refreshToken !== true || grants.includes('refresh_token')) return values;
  return { ...values, allowedAccessTypes: [...grants, 'refresh_token'] };
}

const jwtPaths = (name: string, classic: string, oas = name) => ({ classic: `jwt.${classic}`, oas: `jwt.${oas}` });
const introspectionPaths = (classic: string, oas: string) => ({
  classic: `introspection.${classic}`,
  oas: `introspection.${oas}`,
});

export const externalOAuth = facet({
  name: 'externalOAuth',
  convertsOnlyWhenEnabled: true,
  about: 'Callers send a token that another server issued.',
  classic: 'external_oauth',
  oas: '@externalOAuth',
  fields: {
    enabled: { rule: flagRule, about: 'Asks for a token.' },
    ...authSourceFields('/auth_configs.externalOAuth'),
    providers: {
      list: {
        jwtEnabled: { rule: flagRule, ...jwtPaths('enabled', 'enabled'), about: 'Checks the token here.' },
        signingMethod: { rule: textRule, ...jwtPaths('signingMethod', 'signing_method'), about: 'hmac, rsa or ecdsa.' },
        source: {
          rule: textRule,
          interpolation: 'secret',
          secret: 'all',
          ...jwtPaths('source', 'source'),
          about: 'The key, or the address of a key set.',
        },
        identityBaseField: {
          rule: textRule,
          ...jwtPaths('identityBaseField', 'identity_base_field'),
          about: 'The claim that names the caller.',
        },
        issuedAtSkewSeconds: {
          rule: skewSecondsRule,
          ...jwtPaths('issuedAtValidationSkew', 'issued_at_validation_skew'),
          about: 'How far in the future a token may have been issued.',
        },
        notBeforeSkewSeconds: {
          rule: skewSecondsRule,
          ...jwtPaths('notBeforeValidationSkew', 'not_before_validation_skew'),
          about: 'How much too early a token may be used.',
        },
        expiresAtSkewSeconds: {
          rule: skewSecondsRule,
          ...jwtPaths('expiresAtValidationSkew', 'expires_at_validation_skew'),
          about: 'How long after its end a token may be used.',
        },
        introspectionEnabled: {
          rule: flagRule,
          ...introspectionPaths('enabled', 'enabled'),
          about: 'Asks the server that issued it.',
        },
        url: {
          rule: textRule,
          interpolation: 'secret',
          ...introspectionPaths('url', 'url'),
          about: 'The introspection address.',
        },
        clientId: {
          rule: textRule,
          interpolation: 'secret',
          ...introspectionPaths('client_id', 'clientId'),
          about: 'Client id there.',
        },
        clientSecret: {
          rule: textRule,
          interpolation: 'secret',
          secret: 'all',
          ...introspectionPaths('client_secret', 'clientSecret'),
          about: 'Client secret there.',
        },
        introspectionIdentityField: {
          rule: textRule,
          ...introspectionPaths('identity_base_field', 'identityBaseField'),
          about: 'The member of the reply that names the caller.',
        },
        cacheEnabled: {
          rule: flagRule,
          ...introspectionPaths('cache.enabled', 'cache.enabled'),
          about: 'Remembers replies.',
        },
        cacheSeconds: {
          rule: countRule,
          ...introspectionPaths('cache.timeout', 'cache.timeout'),
          about: 'How long; 0 for ever.',
        },
      },
      about: 'Who issued the token; the first one counts.',
    },
  },
});

/** Older location of key settings, read for token and JWT where they have no settings of their own. */
export const olderAuth = facet({
  name: 'olderAuth',
  about: 'Key settings from before every mode had its own.',
  classic: 'auth',
  oas: null,
  fields: {
    name: { rule: textRule, about: 'A label.' },
    disableHeader: { rule: flagRule, classic: 'disable_header', about: 'Does not look in a header.' },
    headerName: { rule: textRule, classic: 'auth_header_name', about: 'The header.' },
    queryEnabled: { rule: flagRule, classic: 'use_param', about: 'Looks in a query parameter.' },
    queryName: { rule: textRule, classic: 'param_name', about: 'That parameter.' },
    cookieEnabled: { rule: flagRule, classic: 'use_cookie', about: 'Looks in a cookie.' },
    cookieName: { rule: textRule, classic: 'cookie_name', about: 'That cookie.' },
    useCertificate: {
      rule: flagRule,
      classic: 'use_certificate',
      about: 'The client certificate may stand for the key.',
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
