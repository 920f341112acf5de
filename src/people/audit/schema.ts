import { z } from 'zod';
import { formatHttpDate, toUnixSeconds } from '#base/clock.ts';

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
}

export const AuditLog = z.object({
  _id: z.string(),
  req_id: z.string().describe('Names the call'),
  org_id: z.string().describe('The organisation it was about; empty for the installation itself'),
  date: z.string().describe('When, for people'),
  timestamp: z.int().describe('When, in Unix seconds'),
  ip: z.string().describe('Where the call came from'),
  user: z.string().describe('E-mail address of the user, or the name of the secret'),
  action: z.string().describe('The operation'),
  method: z.string(),
  url: z.string().describe('The path; the id of a key is left out'),
  status: z.int().describe('How it ended'),
  object: z.string().describe('What it was done to; a key by its hash'),
  surface: z.string(),
});

export const toAuditLog = ({ id, reqId, at, actor, ...record }: AuditRecord): z.input<typeof AuditLog> => ({
  _id: String(id),
  req_id: reqId,
  date: formatHttpDate(at),
  timestamp: toUnixSeconds(at),
  user: actor,
  ...record,
});

const word = z.string().max(300).optional();
const day = z.iso.date('must be a day like 2026-01-31').optional();

/** Filters of both surfaces. */
export const auditFilters = {
  user: word.describe('E-mail address of the user'),
  action: word.describe('Name of the operation'),
  ip: word.describe('Address the call came from'),
  method: word.describe('HTTP method'),
  status: z.coerce.number().int().min(100).max(599).optional().describe('Status of the answer'),
  url: word.describe('Part of the path, in its case'),
  from_date: day.describe('First day, in UTC'),
  to_date: day.describe('Last day, in UTC'),
};
