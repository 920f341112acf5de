import type { ResultOf } from '../../../kit/calls.ts';
import { toApiOutline } from '../api-outline.ts';
import { readFieldValue, withMember } from '../form/json-members.ts';
import { gatewayMember } from '../form/use-definition-schema.ts';

interface CopyOptions {
  readonly name: string;
  readonly listenPath: string;
}

/** Ids of an API and its list of versions, which a copy does not have. */
const ownInfo = ['id', 'dbId', 'orgId', 'versioning'];
const ownMembers = ['api_id', 'id', 'org_id'];

const withoutMembers = (root: unknown, path: readonly string[], names: readonly string[]): unknown =>
  names.reduce(
    (copy, name) =>
      readFieldValue(copy, [...path, name]) === undefined ? copy : withMember(copy, [...path, name], undefined),
    root,
  );

/** Copy of an OpenAPI or streams document without ids and versions, with another name and listen path. */
export function copyDocument(definition: unknown, { name, listenPath }: CopyOptions): unknown {
  const info = [gatewayMember, 'info'];
  const copy = withMember(withoutMembers(definition, info, ownInfo), [...info, 'name'], name);
  return withMember(copy, [gatewayMember, 'server', 'listenPath', 'value'], listenPath);
}

type ApiItem = ResultOf<'GET /api/apis/{apiId}'>;

export interface Owners {
  readonly user_owners: string[];
  readonly user_group_owners: string[];
}

/** Owners of an API, whom its copy has too: others must not read the settings of the copy. */
export const readOwners = ({ user_owners, user_group_owners }: ApiItem): Owners => ({ user_owners, user_group_owners });

/** Body that creates a copy of an API in its own format; only that of a classic API has the owners. */
export function copyApi(item: ApiItem, options: CopyOptions): unknown {
  if (toApiOutline(item).format !== 'classic') return copyDocument(item.oas, options);
  const copy = withMember(withoutMembers(item.api_definition, [], ownMembers), ['name'], options.name);
  return { ...readOwners(item), api_definition: withMember(copy, ['proxy', 'listen_path'], options.listenPath) };
}
