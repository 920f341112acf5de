import { Readable } from 'node:stream';
import type { Log } from '#base/log.ts';
import type { StreamedFile } from '#operations/body.ts';
import { csvType, formatCsv, formatCsvRows } from '#operations/csv.ts';
import { AuditLog, type AuditRecord, toAuditLog } from './schema.ts';

const columns = Object.keys(AuditLog.shape) as (keyof typeof AuditLog.shape)[];
export const auditExportTypes = { csv: csvType, json: 'application/json' } as const;

export type ExportType = keyof typeof auditExportTypes;
type LimitNames = (records: readonly AuditRecord[]) => Promise<AuditRecord[]>;

async function* limitBatches(batches: AsyncGenerator<AuditRecord[]>, limitNames: LimitNames) {
  for await (const batch of batches) yield await limitNames(batch);
}

/** File of audit records, written while the batches are read; the stream is destroyed with its client. */
export function createAuditExport(
  batches: AsyncGenerator<AuditRecord[]>,
  { type, limitNames }: { readonly type: ExportType; readonly limitNames?: LimitNames },
  log: Log,
): StreamedFile {
  const limited = limitNames ? limitBatches(batches, limitNames) : batches;
  const parts = type === 'csv' ? formatAsCsv(limited) : formatAsJson(limited);
  const stream = Readable.from(logFailure(parts, log), { objectMode: false });
  return { stream, mediaType: auditExportTypes[type], name: `audit-logs.${type}` };
}

async function* formatAsCsv(batches: AsyncGenerator<AuditRecord[]>) {
  yield formatCsv(columns, []);
  for await (const batch of batches)
    yield formatCsvRows(batch.map(toAuditLog).map(record => columns.map(name => record[name])));
}

/** The form of the list, so that a client reads both alike. */
async function* formatAsJson(batches: AsyncGenerator<AuditRecord[]>) {
  yield '{"audit_logs":[';
  let separator = '';
  for await (const batch of batches) {
    yield separator + batch.map(record => JSON.stringify(toAuditLog(record))).join(',');
    separator = ',';
  }
  yield ']}';
}

/** The status has been sent: the connection ends before the file does, and the reason is in the log. */
async function* logFailure(parts: AsyncGenerator<string>, log: Log) {
  try {
    yield* parts;
  } catch (error) {
    log.error({ reason: error instanceof Error ? error.message : String(error) }, 'audit export failed');
    throw error;
  }
}
