import type { Reader } from './reader.ts';
import { createSqliteReader } from './reader-sqlite.ts';

export interface ReaderOptions {
  url?: string;
  file?: string;
  connections?: number;
  onLost?: (error: Error) => void;
}

/** PostgreSQL connections of a reader for which no number is given, as that of each traffic thread. */
const defaultConnections = 4;

/** Loads the driver on first use. */
export async function openReader(options: ReaderOptions): Promise<Reader> {
  const { url, file, connections = defaultConnections, onLost = () => undefined } = options;
  if (!url) return createSqliteReader(file!);
  const { createPostgresReader } = await import('./reader-postgres.ts');
  return createPostgresReader(url, connections, onLost);
}
