import type { z } from 'zod';
import { isObject } from '#base/json-tree.ts';
import { validateClassic } from './classic-validation.ts';
import type { UnknownMembers } from './members.ts';
import { checkDefinitionMembers, toCheckResult } from './members.ts';
import type { CheckResult, Fault } from './validation-error.ts';
import { fromZodError } from './validation-error.ts';
import { buildWireSchema } from './wire-schema.ts';

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
export const classicSchema = buildWireSchema('classic') as z.ZodObject as unknown as z.ZodType<ClassicDefinition>;

/** Says everything that is wrong at once. What passes is the value that was given, without `null` for absent members. */
export function checkClassic(
  value: unknown,
  unknownMembers: UnknownMembers = 'refuse',
): CheckResult<ClassicDefinition> {
  const otherForm = detectOpenApi(value);
  if (otherForm) return { ok: false, errors: [otherForm] };
  const members = checkDefinitionMembers(classicSchema, value, unknownMembers);
  const parsed = classicSchema.safeParse(members.value);
  const faults = [...members.errors, ...(parsed.success ? [] : fromZodError(parsed.error))];
  return toCheckResult(members, faults.length > 0 ? faults : validateClassic(members.value as ClassicDefinition));
}

/** An OpenAPI document holds none of the members of a classic definition: one sentence says more than a list of them. */
function detectOpenApi(value: unknown): Fault | undefined {
  const name = ['openapi', 'swagger'].find(member => isObject(value) && member in value);
  if (name === undefined) return undefined;
  return { path: name, message: 'is a member of OpenAPI documents, which are written or imported at /gw/apis/oas' };
}
