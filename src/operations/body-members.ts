import type { z } from 'zod';
import { checkMembers, defaultMemberBounds, formatUnknownMember } from '#base/members.ts';
import type { Settings } from '#base/settings.ts';
import type { BodyEnvelope } from './operation.ts';
import {
  createInvalidProblem,
  formatValidationError,
  toValidationErrors,
  type ValidationError,
} from './validation-error.ts';

interface CheckedBody {
  readonly body: unknown;
  readonly warnings: readonly string[];
}

interface BodyRules {
  readonly body: z.ZodType;
  readonly envelope?: BodyEnvelope;
}

/**
 * Checks a request body, its members first: one that the schema does not declare is refused with the nearest known name, or
 * left out and reported, by the setting; `null` of an optional member is absent. All faults come at once.
 */
export function checkBody(
  { body: schema, envelope }: BodyRules,
  input: unknown,
  unknownMembers: Settings['management.unknown_members'],
): CheckedBody {
  const isRefused = unknownMembers === 'refuse';
  const bounds = { ...defaultMemberBounds, dropsUnknown: true };
  const { value, unknown, legacy } = checkMembers(schema, unwrapEnvelope(input, envelope), bounds);
  const unknownErrors = unknown.map(
    (member): ValidationError => ({ path: member.path, message: formatUnknownMember(member) }),
  );
  const result = schema.safeParse(value);
  if ((isRefused && unknownErrors.length > 0) || !result.success)
    throw createInvalidProblem([
      ...(isRefused ? unknownErrors : []),
      ...(result.success ? [] : toValidationErrors(schema, value, result.error)),
    ]);
  const ignored = unknownErrors.map(fault => `${formatValidationError(fault)} (ignored)`);
  return {
    body: result.data,
    warnings: [...ignored, ...legacy.map(path => `${path}: legacy member, kept without effect`)],
  };
}

/** Unwraps the envelope that reads return, so that a read body can be edited and sent back. */
function unwrapEnvelope(input: unknown, envelope: BodyEnvelope | undefined): unknown {
  if (!envelope || typeof input !== 'object' || input === null || !Object.hasOwn(input, envelope.body)) return input;
  const { [envelope.body]: inside, ...beside } = input as Record<string, unknown>;
  return Object.keys(beside).every(name => envelope.beside.includes(name)) ? inside : input;
}

/** Longer headers are truncated: clients and proxies bound the size of a response head. */
const maxWarningsHeaderLength = 2000;

export interface ResponseWarnings {
  /** Added to a response that is an object, as its member `warnings`. */
  readonly warnings: readonly string[];
  /** Always sent as a header: about a read of a document, which gets no further member. */
  readonly inHeader?: readonly string[];
}

/** Adds warnings to a response: as a member of an object, else as a header. */
export function addWarnings(
  response: unknown,
  { warnings, inHeader = [] }: ResponseWarnings,
  setHeader: (name: string, value: string) => void,
): unknown {
  const isObject = isPlainObject(response);
  const inHead = isObject ? inHeader : [...inHeader, ...warnings];
  if (inHead.length > 0) setHeader('X-Gw-Warnings', toHeaderText(inHead.join(' | ')));
  if (!isObject || warnings.length === 0) return response;
  const { warnings: own = [] } = response as { warnings?: readonly string[] };
  return { ...response, warnings: [...own, ...warnings] };
}

/** False for arrays and streams. */
const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const toHeaderText = (text: string) =>
  text
    .toWellFormed()
    .slice(0, maxWarningsHeaderLength)
    .toWellFormed()
    .replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent);
