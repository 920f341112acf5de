import type { z } from 'zod';
import { classicLaws } from './classic-laws.ts';
import type { Checked } from './faults.ts';
import { faultsOf } from './faults.ts';
import { schemaOf } from './wire-schema.ts';

/** A classic definition as it is on the wire: checked where it is known, kept as it is everywhere. */
export interface ClassicDefinition {
  api_id?: string;
  id?: string;
  org_id?: string;
  name?: string;
  slug?: string;
  active?: boolean;
  internal?: boolean;
  is_oas?: boolean;
  domain?: string;
  expiration?: string;
  listen_port?: number;
  protocol?: string;
  tags?: string[] | null;
  use_keyless?: boolean;
  proxy?: {
    listen_path?: string;
    target_url?: string;
    target_list?: string[] | null;
    [member: string]: unknown;
  } | null;
  definition?: { enabled?: boolean; versions?: Record<string, string> | null; [member: string]: unknown } | null;
  version_data?: {
    not_versioned?: boolean;
    default_version?: string;
    versions?: Record<string, Record<string, unknown>> | null;
    [member: string]: unknown;
  } | null;
  [member: string]: unknown;
}

/** The rule of a request body that holds a classic definition. */
export const classicSchema = schemaOf('classic') as z.ZodObject as unknown as z.ZodType<ClassicDefinition>;

/** Says everything that is wrong at once. What passes is the very value that was given. */
export function checkClassic(value: unknown): Checked<ClassicDefinition> {
  const parsed = classicSchema.safeParse(value);
  if (!parsed.success) return { ok: false, faults: faultsOf(parsed.error) };
  const definition = value as ClassicDefinition;
  const faults = classicLaws(definition);
  return faults.length > 0 ? { ok: false, faults } : { ok: true, definition };
}
