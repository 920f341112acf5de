/** Kinds of objects with a history: parameter of their paths, permission, and key of their page. */
export const revisedKinds = {
  apis: { param: 'apiId', permission: 'apis', page: 'apis' },
  policies: { param: 'policyId', permission: 'policies', page: 'policies' },
  hooks: { param: 'hookId', permission: 'hooks', page: 'webhooks' },
  assets: { param: 'assetId', permission: 'api_assets', page: 'templates' },
  certs: { param: 'certId', permission: 'certs', page: 'certificates' },
  users: { param: 'userId', permission: 'users', page: 'users' },
  usergroups: { param: 'groupId', permission: 'user_groups', page: 'user_groups' },
  profiles: { param: 'profileId', permission: 'idm', page: 'profiles' },
} as const;
export type HistoryKind = keyof typeof revisedKinds;

export const isHistoryKind = (text: string): text is HistoryKind => Object.hasOwn(revisedKinds, text);

/** An object with a history. */
export interface RevisedObject {
  readonly kind: HistoryKind;
  readonly id: string;
}

/** Routes and parameters of a history. All kinds have the same shapes: those of APIs stand for the types of all. */
export function toHistoryRoutes({ kind, id }: RevisedObject) {
  const { param } = revisedKinds[kind];
  const path = `/api/revisions/${kind}/{${param}}` as '/api/revisions/apis/{apiId}';
  return {
    list: `GET ${path}`,
    compare: `GET ${path}/compare`,
    get: `GET ${path}/{revision}`,
    restore: `POST ${path}/{revision}/restore`,
    params: { [param]: id } as unknown as { readonly apiId: string },
  } as const;
}
