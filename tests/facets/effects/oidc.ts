import assert from 'node:assert/strict';
import type { JsonObject } from '#base/json-tree.ts';
import {
  bearer,
  classic,
  issuerOf,
  keepsOutWith,
  letsIn,
  letsInWith,
  otherPolicy,
  policyFor,
  publishIssuers,
  requireMethod,
} from '../auth-methods.ts';
import type { Effect, Ground, Served } from '../effect.ts';

/** Callers show an ID token of an OpenID provider. */

interface Clients {
  readonly [client: string]: string;
}

const provider = ({ format }: Ground, issuer: string, clients: Clients): JsonObject => {
  const pairs = Object.entries(clients);
  return format === 'classic'
    ? { issuer, client_ids: Object.fromEntries(pairs.map(([client, policy]) => [btoa(client), policy])) }
    : { issuer, clientToPolicyMapping: pairs.map(([clientId, policyId]) => ({ clientId, policyId })) };
};
const header = { enabled: true, name: 'Authorization' };

/** An ID token of a provider of the API; `from` is which. */
const idToken = (at: Ground, claims: JsonObject, from = 'issuer'): string =>
  bearer({ iss: issuerOf(at, from), aud: 'app', sub: at.id, ...claims });

/** Remaining quota, from the response headers of a request. */
async function remaining(at: Served, authorization: string): Promise<number> {
  return Number((await letsIn(at, '/thing', { authorization })).headers.get('x-ratelimit-remaining'));
}

async function scopesCount(at: Served): Promise<void> {
  publishIssuers(at, 'issuer');
  await letsInWith(at, idToken(at, { may: 'x orders:read' }));
  await keepsOutWith(at, idToken(at, { may: 'orders' }), idToken(at, { scope: 'orders:read' }), idToken(at, {}));
}

export const oidc: readonly Effect[] = [
  {
    rows: 'oidc.providers oidc.providers[].issuer oidc.providers[].clientToPolicy',
    promise: 'ID tokens of configured issuers and clients get the policies of those clients',
    classic: async at => {
      const clients = { app: await policyFor(at), closed: await otherPolicy(at) };
      const list = ['one', 'two'].map(name => provider(at, issuerOf(at, name), clients));
      return classic('oidc', { openid_options: { providers: list } });
    },
    oas: async at => {
      const clients = { app: await policyFor(at), closed: await otherPolicy(at) };
      return requireMethod('oidc', {
        header,
        providers: ['one', 'two'].map(it => provider(at, issuerOf(at, it), clients)),
      });
    },
    async observe(at) {
      publishIssuers(at, 'one', 'two', 'three');
      await letsInWith(at, idToken(at, {}, 'one'), idToken(at, { aud: ['x', 'app'] }, 'two'));
      await keepsOutWith(
        at,
        idToken(at, {}, 'three'),
        idToken(at, { aud: 'other' }, 'one'),
        idToken(at, { aud: 'closed' }, 'one'),
      );
    },
  },
  {
    rows: 'oidc.segregateByClientId',
    promise: 'with segregation one user through two clients is two identities',
    classic: async at => {
      const policy = await policyFor(at, at.id, { quota_max: 10, quota_renewal_rate: 3600 });
      const list = [provider(at, issuerOf(at), { app: policy, web: policy })];
      return classic('oidc', { openid_options: { segregate_by_client: true, providers: list } });
    },
    oas: async at => {
      const policy = await policyFor(at, at.id, { quota_max: 10, quota_renewal_rate: 3600 });
      const list = [provider(at, issuerOf(at), { app: policy, web: policy })];
      return requireMethod('oidc', { header, segregateByClientId: true, providers: list });
    },
    async observe(at) {
      publishIssuers(at, 'issuer');
      const [first, second] = [idToken(at, { aud: 'app' }), idToken(at, { aud: 'web' })];
      assert.deepEqual([await remaining(at, first), await remaining(at, first)], [9, 8]);
      assert.equal(await remaining(at, second), 9);
      const one = at.format === 'classic' ? { openid_options: { segregate_by_client: false } } : undefined;
      await at.change(one ?? { server: { authentication: { oidc: { segregateByClientId: false } } } });
      assert.deepEqual([await remaining(at, first), await remaining(at, second)], [9, 8]);
    },
  },
  {
    rows: 'oidc.scopeClaimName,scopeToPolicy',
    promise: 'scopes of an ID token map to policies',
    classic: async at => {
      const policy = await policyFor(at);
      return classic('oidc', {
        scopes: { oidc: { scope_claim_name: 'may', scope_to_policy: { 'orders:read': policy } } },
        openid_options: { providers: [provider(at, issuerOf(at), { app: policy })] },
      });
    },
    oas: async at => {
      const policy = await policyFor(at);
      return requireMethod('oidc', {
        header,
        scopes: { claimName: 'may', scopeToPolicyMapping: [{ scope: 'orders:read', policyId: policy }] },
        providers: [provider(at, issuerOf(at), { app: policy })],
      });
    },
    observe: scopesCount,
  },
  {
    rows: 'oidc.scopeClaims',
    promise: 'any of several claims lists the scopes',
    oas: async at => {
      const policy = await policyFor(at);
      return requireMethod('oidc', {
        header,
        scopes: { claims: ['roles', 'may'], scopeToPolicyMapping: [{ scope: 'orders:read', policyId: policy }] },
        providers: [provider(at, issuerOf(at), { app: policy })],
      });
    },
    async observe(at) {
      await scopesCount(at);
      await letsInWith(at, idToken(at, { roles: ['orders:read'] }));
    },
  },
];
