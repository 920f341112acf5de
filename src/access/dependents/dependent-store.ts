import type { Records } from '#storage/records.ts';

/** Rows of one kind that a search returns at most; the first ones are named. */
const maxRows = 1001;

export type DependentStore = ReturnType<typeof createDependentStore>;

/** References between objects that are indexed in tables of their own. */
export const createDependentStore = (records: Records) => ({
  ...createGrantReferences(records),
  ...createClientReferences(records),
  ...createGroupReferences(records),
});

/** Keys and policies that grant access. */
const createGrantReferences = (records: Records) => ({
  /** Keys that grant an API themselves. */
  keysOfApi: (orgId: string, apiId: string) =>
    records.db
      .selectFrom('key_apis')
      .innerJoin('keys', 'keys.id', 'key_apis.key')
      .select(['keys.id', 'keys.key_hash'])
      .where('key_apis.org_id', '=', orgId)
      .where('key_apis.api_id', '=', apiId)
      .where('keys.kind', '<>', 'organisation')
      .orderBy('keys.id')
      .limit(maxRows)
      .execute(),

  keysOfPolicy: (orgId: string, policyId: string) =>
    records.db
      .selectFrom('key_policies')
      .innerJoin('keys', 'keys.id', 'key_policies.key')
      .select(['keys.id', 'keys.key_hash'])
      .where('key_policies.org_id', '=', orgId)
      .where('key_policies.policy_id', '=', policyId)
      .orderBy('keys.id')
      .limit(maxRows)
      .execute(),

  policiesOfApi: (orgId: string, apiId: string) =>
    records.db
      .selectFrom('policy_apis')
      .innerJoin('policies', 'policies.id', 'policy_apis.policy')
      .select(['policies.policy_id', 'policies.name'])
      .where('policy_apis.org_id', '=', orgId)
      .where('policy_apis.api_id', '=', apiId)
      .orderBy('policies.id')
      .limit(maxRows)
      .execute(),
});

const createClientReferences = (records: Records) => ({
  /** OAuth clients of an API. */
  clientsOfApi: (orgId: string, apiId: string) =>
    records.db
      .selectFrom('oauth_clients')
      .select(['client_id', 'body'])
      .where('org_id', '=', orgId)
      .where('api_id', '=', apiId)
      .orderBy('id')
      .limit(maxRows)
      .execute(),

  /** Stored OAuth clients whose row contains a text: candidates for those that name a policy. */
  clientsMentioning: (orgId: string, text: string) =>
    records.db
      .selectFrom('oauth_clients')
      .select(['client_id', 'body'])
      .where('org_id', '=', orgId)
      .where('body', 'like', `%${JSON.stringify(text).replaceAll(/[\\%_]/g, '\\$&')}%`)
      .orderBy('id')
      .limit(maxRows)
      .execute(),
});

const createGroupReferences = (records: Records) => ({
  usersOfGroup: (orgId: string, groupId: string) =>
    records.db
      .selectFrom('users')
      .select(['id', 'email'])
      .where('org_id', '=', orgId)
      .where('group_id', '=', groupId)
      .orderBy('id')
      .limit(maxRows)
      .execute(),

  apisOfGroup: (orgId: string, groupId: string) =>
    records.db
      .selectFrom('api_owners')
      .innerJoin('apis', 'apis.id', 'api_owners.api')
      .select(['apis.api_id', 'apis.name'])
      .where('api_owners.org_id', '=', orgId)
      .where('api_owners.kind', '=', 'group')
      .where('api_owners.owner', '=', groupId)
      .orderBy('apis.id')
      .limit(maxRows)
      .execute(),
});
