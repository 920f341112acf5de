import type { LoadedApi } from '../api-frame.tsx';
import { type FormObject, readFieldValue, withMember } from '../form/json-members.ts';
import { gatewayMember } from '../form/use-definition-schema.ts';
import { toListenPath } from '../new-api.ts';

/** Copy of an API as a new version: without ids and versions, with a name and a listen path of its own. */
export function copyAsVersion({ api, definition }: LoadedApi, version: string): unknown {
  const info = [gatewayMember, 'info'];
  const listenPath = [gatewayMember, 'server', 'listenPath', 'value'];
  let copy: unknown = definition;
  for (const name of ['id', 'dbId', 'orgId', 'versioning'])
    if (readFieldValue(copy, [...info, name]) !== undefined) copy = withMember(copy, [...info, name], undefined);
  copy = withMember(copy, [...info, 'name'], `${api.name} ${version}`);
  const path = String(readFieldValue(definition, listenPath) ?? '/');
  return withMember(
    copy as FormObject,
    listenPath,
    `${path.replace(/\/+$/, '')}-${toListenPath(version).slice(1) || 'next/'}`,
  );
}
