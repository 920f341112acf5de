import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import { ecPair, mint, rsaPair } from '../../support/tokens.ts';
import { eventually } from '../../support/upstream.ts';
import {
  bearer,
  classic,
  entryChange,
  keepsOutWith,
  keySet,
  letsIn,
  letsInWith,
  mintSharedToken,
  mintSignedToken,
  now,
  oauthClient,
  otherPolicy,
  policyFor,
  publicSource,
  publishes,
  requireMethod,
  signer,
} from '../auth-methods.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** Callers send a JSON Web Token. */

interface Members {
  readonly classic?: JsonObject;
  readonly oas: JsonObject;
}

/** Tokens signed with the key of the definition, with the rights of a policy, and further members. */
const tokens = (say: (at: Ground, policy: string) => Members | Promise<Members>): Pick<Effect, 'classic' | 'oas'> => ({
  classic: async at => {
    const policy = await policyFor(at);
    const members = await say(at, policy);
    const base = { jwt_source: publicSource, jwt_signing_method: 'ecdsa', jwt_default_policies: [policy] };
    return classic('jwt', { ...base, ...members.classic });
  },
  oas: async at => {
    const policy = await policyFor(at);
    const members = await say(at, policy);
    return requireMethod('jwt', {
      header: { enabled: true, name: 'Authorization' },
      source: publicSource,
      signingMethod: 'ecdsa',
      defaultPolicies: [policy],
      ...members.oas,
    });
  },
});

/** For members of the OpenAPI format only. */
const tokensOas = (say: (at: Ground, policy: string) => JsonObject | Promise<JsonObject>): Pick<Effect, 'oas'> => ({
  oas: tokens(async (at, policy) => ({ oas: await say(at, policy) })).oas!,
});

/** What makes a token good and what makes it bad, claim by claim. */
const claims =
  (good: JsonObject, ...bad: readonly JsonObject[]) =>
  async (at: Served): Promise<void> => {
    await letsInWith(at, bearer({ sub: 'ann', ...good }));
    await keepsOutWith(at, ...bad.map(wrong => bearer({ sub: 'ann', ...good, ...wrong })));
  };

const pagesOf = ({ id }: Ground) => ({ first: `/${id}/first`, second: `/${id}/second` });
const stranger = ecPair();

const trust: readonly Effect[] = [
  {
    rows: 'jwt.source,signingMethod,defaultPolicies',
    promise: 'JWTs are verified with the configured key and algorithm, and get the default policies',
    ...tokens((_at, policy) => ({
      classic: { jwt_source: publicSource, jwt_signing_method: 'ecdsa', jwt_default_policies: [policy] },
      oas: { source: publicSource, signingMethod: 'ecdsa', defaultPolicies: [policy] },
    })),
    async observe(at) {
      await letsInWith(at, bearer({ sub: 'ann' }), mintSignedToken({ sub: 'ann' }));
      await keepsOutWith(
        at,
        mintSignedToken({ sub: 'ann' }, {}, stranger.privateKey),
        mint({ sub: 'ann' }, rsaPair().privateKey),
        mintSharedToken({ sub: 'ann' }, publicSource),
        mint({ sub: 'ann' }, signer.privateKey, { alg: 'none' }),
      );
    },
  },
  {
    rows: 'jwt.keySets jwt.keySets[].url jwt.keySets[].cacheTimeout',
    promise: 'keys of every configured JWKS URL are trusted for its cache time',
    settings: { 'jwks.min_refresh_seconds': '0' },
    ...tokens(at => {
      const { first, second } = pagesOf(at);
      publishes(at.upstream, { [first]: () => keySet('other', stranger.publicKey), [second]: () => keySet() });
      const urls = [first, second].map(path => at.upstream.url + path);
      return {
        classic: { jwt_jwks_uris: urls.map(url => ({ url, cache_timeout: 1 })) },
        oas: { jwksURIs: urls.map(url => ({ url, cacheTimeout: '1s' })) },
      };
    }),
    async observe(at) {
      const others = mintSignedToken({ sub: 'ann' }, { kid: 'other' }, stranger.privateKey);
      await letsInWith(at, bearer({ sub: 'ann' }), others);
      publishes(at.upstream, Object.fromEntries(Object.values(pagesOf(at)).map(path => [path, () => keySet()])));
      await eventually(() => keepsOutWith(at, others));
      await letsInWith(at, bearer({ sub: 'ann' }));
    },
  },
  {
    rows: 'jwt.skipKid',
    promise: 'with jwt_skip_kid the subject selects the key, not the kid',
    classic: () => classic('jwt', { jwt_signing_method: 'hmac', jwt_skip_kid: true }),
    oas: () => requireMethod('jwt', { header: { enabled: true }, signingMethod: 'hmac', skipKid: true }),
    async observe(at) {
      const secret = 'a shared secret of one caller, long enough';
      const sub = await at.key({ jwt_data: { secret } });
      await letsInWith(at, mintSharedToken({ sub }, secret, 'anything'));
      await keepsOutWith(at, mintSharedToken({ sub }, `${secret}!`), mintSharedToken({ sub: 'nobody' }, secret, sub));
    },
  },
  {
    rows: 'jwt.issuedAtSkewSeconds,notBeforeSkewSeconds,expiresAtSkewSeconds',
    promise: 'exp, nbf and iat allow their configured clock skew',
    ...tokens(() => ({
      classic: {
        jwt_issued_at_validation_skew: 100,
        jwt_not_before_validation_skew: 200,
        jwt_expires_at_validation_skew: 300,
      },
      oas: { issuedAtValidationSkew: 100, notBeforeValidationSkew: 200, expiresAtValidationSkew: 300 },
    })),
    async observe(at) {
      const when = (claim: string, seconds: number) => bearer({ sub: 'ann', [claim]: now() + seconds });
      await letsInWith(at, when('iat', 90), when('nbf', 190), when('exp', -200));
      await keepsOutWith(at, when('iat', 190), when('nbf', 290), when('exp', -301));
    },
  },
];

const whoAndWhat: readonly Effect[] = [
  {
    rows: 'jwt.identityBaseField',
    promise: 'the configured claim identifies the client',
    ...tokens(() => ({ classic: { jwt_identity_base_field: 'user' }, oas: { identityBaseField: 'user' } })),
    async observe(at) {
      await letsInWith(at, bearer({ user: 'ann' }));
      await keepsOutWith(at, bearer({ name: 'ann' }), bearer({ user: '', sub: 'ann' }));
    },
  },
  {
    rows: 'jwt.subjectClaims',
    promise: 'any of several claims identifies the client',
    ...tokensOas(() => ({ subjectClaims: ['user', 'mail'] })),
    async observe(at) {
      await letsInWith(at, bearer({ user: 'ann' }), bearer({ mail: 'ann' }));
      await keepsOutWith(at, bearer({ name: 'ann' }));
    },
  },
  {
    rows: 'jwt.policyFieldName',
    promise: 'a claim selects the policy',
    ...tokens(() => ({ classic: { jwt_policy_field_name: 'pol' }, oas: { policyFieldName: 'pol' } })),
    async observe(at) {
      await letsInWith(at, bearer({ sub: 'ann' }), bearer({ sub: 'ann', pol: await policyFor(at) }));
      await keepsOutWith(at, bearer({ sub: 'ann', pol: await otherPolicy(at) }), bearer({ sub: 'ann', pol: 'none' }));
    },
  },
  {
    rows: 'jwt.basePolicyClaims',
    promise: 'any of several claims selects the policy',
    ...tokensOas(() => ({ basePolicyClaims: ['pol', 'plan'] })),
    async observe(at) {
      await letsInWith(at, bearer({ sub: 'ann', plan: await policyFor(at) }));
      for (const claim of ['pol', 'plan'])
        await keepsOutWith(at, bearer({ sub: 'ann', [claim]: await otherPolicy(at) }));
    },
  },
  {
    rows: 'jwt.clientBaseField',
    promise: 'a token gets the policy of the OAuth client that it names',
    ...tokens(async at => {
      const closed = [await otherPolicy(at)];
      return {
        classic: { jwt_client_base_field: 'azp', jwt_default_policies: closed },
        oas: { clientBaseField: 'azp', defaultPolicies: closed },
      };
    }),
    async observe(at) {
      const client = await at.key({ access_rights: {}, apply_policies: [await policyFor(at)] });
      await letsInWith(at, bearer({ sub: 'ann', azp: client }));
      await keepsOutWith(at, bearer({ sub: 'ann' }));
    },
  },
  {
    rows: 'jwt.scopeClaimName,scopeToPolicy',
    promise: 'scopes of a token map to policies',
    ...tokens((_at, policy) => ({
      classic: {
        scopes: { jwt: { scope_claim_name: 'may', scope_to_policy: { 'orders:read': policy } } },
        jwt_default_policies: [],
      },
      oas: {
        scopes: { claimName: 'may', scopeToPolicyMapping: [{ scope: 'orders:read', policyId: policy }] },
        defaultPolicies: [],
      },
    })),
    observe: claims({ may: 'x orders:read' }, { may: 'orders' }, { may: undefined, scope: 'orders:read' }),
  },
  {
    rows: 'jwt.scopeClaims',
    promise: 'any of several claims lists the scopes',
    ...tokensOas((_at, policy) => ({
      scopes: { claims: ['may', 'roles'], scopeToPolicyMapping: [{ scope: 'orders:read', policyId: policy }] },
      defaultPolicies: [],
    })),
    observe: claims({ roles: ['orders:read'] }, { roles: [] }, { roles: undefined, scope: 'orders:read' }),
  },
  {
    rows: 'jwt.idpClientIdMappingDisabled',
    promise: 'a client id in a token is not matched to a client of the same id',
    ...tokens(() => ({
      classic: {
        idp_client_id_mapping_disabled: true,
        version_data: { versions: { Default: { global_headers: { 'x-team': '[$gw_meta.team]' } } } },
      },
      oas: { idpClientIdMappingDisabled: true },
    })),
    async observe(at) {
      const { id } = await oauthClient(at, { meta_data: { team: 'blue' } });
      const headers = { authorization: bearer({ sub: 'ann', client_id: id }) };
      const team = async () => (await letsIn(at, '/thing', headers)).body.headers['x-team'];
      if (at.format === 'oas')
        await at.change({
          middleware: {
            global: {
              transformRequestHeaders: { enabled: true, add: [{ name: 'x-team', value: '[$gw_meta.team]' }] },
            },
          },
        });
      assert.equal(await team(), '[]');
      const mapped = {
        classic: { idp_client_id_mapping_disabled: false } as JsonObject,
        oas: entryChange({ idpClientIdMappingDisabled: false }),
      };
      await at.change(mapped[at.format]);
      assert.equal(await team(), '[blue]');
    },
  },
];

const rules: readonly Effect[] = [
  {
    rows: 'jwt.allowedIssuers,allowedAudiences,allowedSubjects,jtiRequired',
    promise: 'tokens with another issuer, audience or subject, or without a jti, are refused',
    ...tokensOas(() => ({
      allowedIssuers: ['https://one.example', 'https://two.example'],
      allowedAudiences: ['shop'],
      allowedSubjects: ['ann', 'bob'],
      jtiValidation: { enabled: true },
    })),
    observe: claims(
      { iss: 'https://two.example', aud: ['other', 'shop'], sub: 'bob', jti: '1' },
      { iss: 'https://three.example' },
      { iss: undefined },
      { aud: 'other' },
      { sub: 'eve' },
      { jti: undefined },
    ),
  },
  {
    rows: 'jwt.customClaims jwt.customClaims.*.type jwt.customClaims.*.allowedValues jwt.customClaims.*.nonBlocking',
    promise: 'custom claims are validated, or only logged when not blocking',
    ...tokensOas(() => ({
      customClaimValidation: {
        team: { type: 'required', allowedValues: [], nonBlocking: false },
        plan: { type: 'exact_match', allowedValues: ['gold', 7], nonBlocking: false },
        'user.roles': { type: 'contains', allowedValues: ['admin'], nonBlocking: false },
        region: { type: 'exact_match', allowedValues: ['north'], nonBlocking: true },
      },
    })),
    observe: claims(
      { team: 'a', plan: 'gold', user: { roles: ['x', 'admin'] }, region: 'south' },
      { team: undefined },
      { plan: 'golden' },
      { plan: '7' },
      { user: { roles: ['x'] } },
    ),
  },
];

export const jwt: readonly Effect[] = [...trust, ...whoAndWhat, ...rules];
