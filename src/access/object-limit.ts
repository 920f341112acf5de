import type { Ownership } from '#apis/owners/store.ts';
import type { Actor } from '#operations/actor.ts';
import type { FindVisibleObjects, LimitVisibleObjects } from '#people/audit/limit-names.ts';
import { isVisible } from './hidden-rights.ts';
import type { KeyStore } from './keys/store.ts';
import type { OauthClientStore } from './oauth/store.ts';
import type { PolicyStore } from './policies/store.ts';

interface HiddenObjectServices {
  ownership: Ownership;
  policies: PolicyStore;
  keys: KeyStore;
  oauthClients: OauthClientStore;
}

/** Finds objects of audit records that ownership of APIs hides; those that are removed are hidden too. */
export const createObjectLimit =
  ({ ownership, policies, keys, oauthClients }: HiddenObjectServices): LimitVisibleObjects =>
  async (actor: Actor): Promise<FindVisibleObjects | undefined> => {
    const { orgId } = actor;
    const hidden = await ownership.findHidden(actor);
    if (hidden.apiIds.length === 0) return undefined;
    return (table, ids) => {
      if (table === 'apis') return ownership.findVisible(actor, ids);
      if (table === 'keys') return keys.findVisibleHashes(orgId, ids, hidden.apiIds);
      if (table === 'oauth_clients') return oauthClients.findVisibleIds(orgId, ids, hidden.apiIds);
      // A record of an earlier version has a name without its table.
      if (table === '') return Promise.resolve([]);
      if (table !== 'policies') return undefined;
      return policies
        .findByIds(orgId, ids)
        .then(found => [...found].filter(([, policy]) => isVisible(policy, hidden)).map(([id]) => id));
    };
  };
