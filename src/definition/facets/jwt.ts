import { z } from 'zod';
import type { Values } from '../facet.ts';
import { facet } from '../facet.ts';
import { flagRule, skewSecondsRule, textListRule, textRule } from '../rules.ts';
import { authSourceFields, scopeFields } from './authentication.ts';

export const jwt = facet({
  name: 'jwt',
  convertsOnlyWhenEnabled: true,
  about: 'JSON Web Tokens.',
  classic: '',
  oas: '@jwt',
  fields: {
    enabled: { rule: flagRule, classic: 'enable_jwt', about: 'Enables JSON Web Tokens.' },
    ...authSourceFields('auth_configs.jwt'),
    source: {
      rule: textRule,
      interpolation: 'secret',
      secret: 'all',
      classic: 'jwt_source',
      about: 'Key in base64, or URL of a key set.',
    },
    keySets: {
      list: {
        url: { rule: textRule, interpolation: 'secret', about: 'URL of the key set.' },
        cacheTimeout: {
          rule: z.union([z.string(), z.number()]).default(0),
          classic: 'cache_timeout',
          about: 'Time for which the key set is cached: seconds, or a duration such as 1m30s.',
        },
      },
      classic: 'jwt_jwks_uris',
      oas: 'jwksURIs',
      about: 'Trusted key sets.',
    },
    signingMethod: { rule: textRule, classic: 'jwt_signing_method', about: 'Signing method: hmac, rsa or ecdsa.' },
    identityBaseField: {
      rule: textRule,
      classic: 'jwt_identity_base_field',
      about: 'Name of the claim that identifies the client.',
    },
    subjectClaims: {
      rule: textListRule,
      classic: null,
      about: 'Names of several claims that may identify the client.',
    },
    skipKid: { rule: flagRule, classic: 'jwt_skip_kid', about: 'Ignores the kid header as identity of the client.' },
    policyFieldName: { rule: textRule, classic: 'jwt_policy_field_name', about: 'Name of the policy claim.' },
    basePolicyClaims: { rule: textListRule, classic: null, about: 'Names of several policy claims.' },
    clientBaseField: { rule: textRule, classic: 'jwt_client_base_field', about: 'Name of the client id claim.' },
    defaultPolicies: {
      rule: textListRule,
      classic: 'jwt_default_policies',
      about: 'Ids of the policies of tokens without a policy claim.',
    },
    issuedAtSkewSeconds: {
      rule: skewSecondsRule,
      classic: 'jwt_issued_at_validation_skew',
      oas: 'issuedAtValidationSkew',
      about: 'Maximum clock skew of the time of issue (iat), in seconds.',
    },
    notBeforeSkewSeconds: {
      rule: skewSecondsRule,
      classic: 'jwt_not_before_validation_skew',
      oas: 'notBeforeValidationSkew',
      about: 'Maximum clock skew of the start of validity (nbf), in seconds.',
    },
    expiresAtSkewSeconds: {
      rule: skewSecondsRule,
      classic: 'jwt_expires_at_validation_skew',
      oas: 'expiresAtValidationSkew',
      about: 'Maximum clock skew of the expiry (exp), in seconds.',
    },
    idpClientIdMappingDisabled: {
      rule: flagRule,
      classic: 'idp_client_id_mapping_disabled',
      about: 'Disables the mapping of client id claims to OAuth clients of the gateway.',
    },
    ...scopeFields('scopes.jwt', { claim: 'jwt_scope_claim_name', map: 'jwt_scope_to_policy_mapping' }),
    allowedIssuers: { rule: textListRule, classic: null, about: 'Accepted issuers; empty for all.' },
    allowedAudiences: { rule: textListRule, classic: null, about: 'Accepted audiences; empty for all.' },
    allowedSubjects: { rule: textListRule, classic: null, about: 'Accepted subjects; empty for all.' },
    jtiRequired: { rule: flagRule, classic: null, oas: 'jtiValidation.enabled', about: 'Requires a token id (jti).' },
    customClaims: {
      map: {
        type: { rule: textRule, about: 'Kind of check: required, exact_match or contains.' },
        allowedValues: { rule: z.array(z.unknown()).default([]), about: 'Accepted values.' },
        nonBlocking: { rule: flagRule, about: 'Logs a failure without refusing the request.' },
      },
      classic: null,
      oas: 'customClaimValidation',
      about: 'Map from the dotted path of a claim to its check.',
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
