import { problem, toDatabaseProblem } from '#storage/database-errors.ts';
import type { OpenDatabaseOptions, OpenedDatabase } from './with-database.ts';
import { withDatabase } from './with-database.ts';

/**
 * Opens the database and its data key. A process that serves traffic may start offline while PostgreSQL is
 * unavailable.
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  try {
    return await withDatabase(options, async (records, dataKey) => ({ records, dataKey }));
  } catch (error) {
    const { url } = options.records;
    if (!url || !options.allowsOfflineStart || toDatabaseProblem(error)?.code !== problem.unavailable.code) throw error;
    // Lazy import: only an offline start needs it.
    const { startFromBackup } = await import('./offline-start.ts');
    const waiting = await startFromBackup(options, url, (error as Error).message);
    if (!waiting) throw error;
    return waiting;
  }
}
