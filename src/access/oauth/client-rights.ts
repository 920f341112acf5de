import { isObject } from '#base/json-tree.ts';
import { readEmbeddedPolicies } from '../policies/apply-policies.ts';
import type { PolicyStore } from '../policies/store.ts';
import type { StoredClient } from './schema.ts';

/** Policies of an OAuth client, for checks of hidden rights: the one it names, and those that its metadata embed. */
export async function findClientPolicies(
  { policies }: { policies: PolicyStore },
  client: Pick<StoredClient, 'org_id' | 'policy_id' | 'meta_data'>,
) {
  const named = client.policy_id === '' ? [] : await policies.findByIds(client.org_id, [client.policy_id]);
  return [...named.values(), ...readEmbeddedPolicies(client).filter(isObject)];
}
