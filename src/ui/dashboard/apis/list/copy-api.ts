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

/** Body that creates a copy of an API in its own format. */
export function copyApi(item: ResultOf<'GET /api/apis/{apiId}'>, options: CopyOptions): unknown {
  if (toApiOutline(item).format !== 'classic') return copyDocument(item.oas, options);
  const copy = withMember(withoutMembers(item.api_definition, [], ownMembers), ['name'], options.name);
  return { api_definition: withMember(copy, ['proxy', 'listen_path'], options.listenPath) };
}
