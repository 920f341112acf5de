import type { z } from 'zod';
import { isObject } from '#base/json-tree.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import type { CheckResult } from './check-result.ts';
import { fromZodError } from './check-result.ts';
import { validateClassic } from './classic-validation.ts';
import type { UnknownMembers } from './members.ts';
import { checkDefinitionMembers, toCheckResult } from './members.ts';
import { buildWireSchema } from './wire-schema.ts';
import type { ClassicDefinition } from './wire-types.ts';

/** Schema of a request body with a classic definition. */
export const classicSchema = buildWireSchema('classic') as z.ZodObject as unknown as z.ZodType<ClassicDefinition>;

/**
 * Checks a classic definition and reports all errors at once. Returns the value as given, without `null` for absent
 * members.
 */
export function checkClassic(
  value: unknown,
  unknownMembers: UnknownMembers = 'refuse',
): CheckResult<ClassicDefinition> {
  const wrongFormat = detectOpenApi(value);
  if (wrongFormat) return { ok: false, errors: [wrongFormat] };
  const members = checkDefinitionMembers(classicSchema, value, unknownMembers);
  const parsed = classicSchema.safeParse(members.value);
  const errors = [...members.errors, ...(parsed.success ? [] : fromZodError(parsed.error))];
  return toCheckResult(members, errors.length > 0 ? errors : validateClassic(members.value as ClassicDefinition));
}

/** Detects an OpenAPI document, which has no member of a classic definition: one message is clearer than a list. */
function detectOpenApi(value: unknown): ValidationError | undefined {
  const name = ['openapi', 'swagger'].find(member => isObject(value) && member in value);
  if (name === undefined) return undefined;
  return { path: name, message: 'is a member of OpenAPI documents, which are written or imported at /gw/apis/oas' };
}
