import { redactedText } from '#base/redaction.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { Hook } from './schema.ts';

type HeaderMap = Readonly<Record<string, string>>;

/** Every header value may be a credential of the receiver. */
export const maskHeaders = (headers: HeaderMap): Record<string, string> =>
  Object.fromEntries(Object.keys(headers).map(name => [name, redactedText]));

/** Secret masking: without permission to write webhooks, a reader sees a mask in place of each header value. */
export const maskHookFor = (actor: Actor, hook: Hook): Hook =>
  hasPermission(actor, 'hooks:write') ? hook : { ...hook, header_map: maskHeaders(hook.header_map) };

/** Restores stored values where a written webhook has their mask. Rejects a mask where no value is stored. */
export function restoreHeaders(given: HeaderMap, stored: HeaderMap = {}): Record<string, string> {
  const masked = Object.keys(given).filter(name => given[name] === redactedText);
  const errors = masked
    .filter(name => !Object.hasOwn(stored, name))
    .map(name => ({
      path: `header_map.${name}`,
      message: `${redactedText} is a masked secret, and none is stored here`,
    }));
  if (errors.length > 0) throw createInvalidProblem(errors);
  return { ...given, ...Object.fromEntries(masked.map(name => [name, stored[name]!])) };
}
