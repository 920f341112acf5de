import { createPublicId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import type { DataDirectory } from './data-directory.ts';

/** Node id of persisted counters: empty with SQLite, which has one process; distinct per process on PostgreSQL. */
export const resolveNodeId = (settings: Settings, directory: DataDirectory): string =>
  settings['database.url'] ? readNodeId(settings, directory) : settings.node_id;

/** Id of this process in the list of nodes: configured, or generated once and stored in the data directory. */
export function readNodeId(settings: Settings, directory: DataDirectory): string {
  if (settings.node_id) return settings.node_id;
  const stored = directory.read('node_id');
  if (stored) return stored;
  const created = createPublicId();
  directory.write('node_id', created);
  return created;
}
