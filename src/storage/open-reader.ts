import type { Reader } from './reader.ts';
import { createSqliteReader } from './reader-sqlite.ts';

export interface ReaderOptions {
  url?: string;
  file?: string;
  connections?: number;
  onLost?: (error: Error) => void;
}

/** Loads the driver on first use. */
export async function openReader(options: ReaderOptions): Promise<Reader> {
  const { url, file, connections = 4, onLost = () => undefined } = options;
  if (!url) return createSqliteReader(file!);
  const { createPostgresReader } = await import('./reader-postgres.ts');
  return createPostgresReader(url, connections, onLost);
}
