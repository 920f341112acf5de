/** What this room needs to know of APIs; the room that keeps them supplies it where the product is wired. */
export interface KnownApi {
  /** The public id, whichever id it was asked by. */
  readonly apiId: string;
  readonly orgId: string;
  readonly name: string;
  /** How callers of the API show who they are, in the words policies use: authToken, jwt, oauth, ba, keyless, other. */
  readonly authType: string;
  /** Whether a quota that runs is left alone when a key is made. */
  readonly keepsQuota: boolean;
}

/** One API by its public or database id; of any organisation where none is named. */
export type FindApi = (id: string, orgId?: string) => Promise<KnownApi | undefined>;

/** Those of these public ids that exist in the organisation. */
export type FindApis = (orgId: string, apiIds: readonly string[]) => Promise<ReadonlyMap<string, KnownApi>>;

/** The public id of an API in a path; an id nobody knows stands for itself, since rights may name APIs yet to come. */
export async function publicApiId(findApi: FindApi, orgId: string, id: string): Promise<string> {
  return (await findApi(id, orgId))?.apiId ?? id;
}
