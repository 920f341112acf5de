import { z } from 'zod';
import { formatHttpDate, toUnixSeconds } from '#base/clock.ts';
import { idList, unixSeconds } from '#operations/shapes.ts';

/** Audit record of a change or an attempt. */
export interface AuditRecord {
  readonly id: number;
  readonly reqId: string;
  readonly org_id: string;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly ip: string;
  readonly surface: string;
  readonly object: string;
  /** Empty where the object has no name, or was not written. */
  readonly objectName: string;
  /** Table of the object with the name; empty without one. */
  readonly objectTable: string;
}

export const AuditLog = z.object({
  _id: z.string(),
  req_id: z.string().describe('Id of the request'),
  org_id: z.string().describe('Id of the organisation; empty for the installation itself'),
  date: z.string().describe('Time in human-readable text'),
  timestamp: z.int().describe('Time in Unix seconds'),
  ip: z.string().describe('Client address'),
  user: z.string().describe('E-mail address of the user, or name of the secret'),
  action: z.string().describe('Name of the operation'),
  method: z.string(),
  url: z.string().describe('Path of the request, without key ids'),
  status: z.int().describe('Status of the response'),
  object: z.string().describe('Id of the object; the hash of a key'),
  surface: z.string(),
  object_name: z
    .string()
    .describe(
      'Name of the object at that time; empty without one, where nothing was written, and where ownership of APIs hides the object',
    ),
});

export const toAuditLog = ({
  id,
  reqId,
  at,
  actor,
  objectName,
  objectTable: _table,
  ...record
}: AuditRecord): z.input<typeof AuditLog> => ({
  _id: String(id),
  req_id: reqId,
  date: formatHttpDate(at),
  timestamp: toUnixSeconds(at),
  user: actor,
  object_name: objectName,
  ...record,
});

const word = z.string().max(300).optional();
const day = z.iso.date('must be a day like 2026-01-31').optional();

/** Filters of both surfaces. */
export const auditFilters = {
  user: word.describe('E-mail address of the user'),
  action: idList.optional().describe('Names of operations, comma-separated, 100 at most'),
  except_action: idList.optional().describe('Names of operations to leave out, comma-separated, 100 at most'),
  ip: word.describe('Client address'),
  method: word.describe('HTTP method'),
  status: z.coerce.number().int().min(100).max(599).optional().describe('Status of the response'),
  url: word.describe('Part of the path, case-sensitive'),
  from_date: day.describe('First day, in UTC'),
  to_date: day.describe('Last day, in UTC'),
  start: unixSeconds.optional().describe('First time, in Unix seconds'),
  end: unixSeconds.optional().describe('Last time, in Unix seconds, inclusive'),
};
