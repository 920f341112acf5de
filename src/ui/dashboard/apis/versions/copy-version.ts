import type { LoadedApi } from '../api-frame.tsx';
import { readFieldValue } from '../form/json-members.ts';
import { gatewayMember } from '../form/use-definition-schema.ts';
import { copyDocument } from '../list/copy-api.ts';
import { toListenPath } from '../new-api.ts';

/** Copy of an API as a new version: its name and listen path have that of the version at their end. */
export function copyAsVersion({ api, definition }: LoadedApi, version: string): unknown {
  const path = String(readFieldValue(definition, [gatewayMember, 'server', 'listenPath', 'value']) ?? '/');
  return copyDocument(definition, {
    name: `${api.name} ${version}`,
    listenPath: `${path.replace(/\/+$/, '')}-${toListenPath(version).slice(1) || 'next/'}`,
  });
}
