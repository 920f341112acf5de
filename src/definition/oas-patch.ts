import type { JsonObject } from '#base/json-tree.ts';
import { isObject } from '#base/json-tree.ts';
import { extensionName, streamingName } from './document-members.ts';
import type { OasDefinition } from './oas.ts';
import { asksNothing, configure, type ImportAsked } from './oas-import.ts';
import { forgetGoneOperations, withOperationIds } from './oas-import-operations.ts';
import type { Checked } from './validation-error.ts';

/**
 * A stored API with a newer document. What the gateway knows of the API stays, without what it knew of operations that
 * are gone; the servers of the author stay where the newer document names none. A document that brings its own part for
 * the gateway, and asks for nothing beside it, is taken as it is.
 */
export function patchedOas(stored: OasDefinition, given: unknown, asked: ImportAsked): Checked<unknown> {
  if (!isObject(given)) return { ok: false, faults: [{ path: '', message: 'must be an object' }] };
  if (given[extensionName] !== undefined && asksNothing(asked)) return { ok: true, definition: given };
  const document = withOperationIds(given);
  const extension = document[extensionName] ?? (structuredClone(stored[extensionName]) as JsonObject);
  if (!isObject(extension)) return { ok: false, faults: [{ path: extensionName, message: 'must be an object' }] };
  const kept = ['servers', streamingName].filter(name => document[name] === undefined && stored[name] !== undefined);
  const next: JsonObject = { ...document, ...Object.fromEntries(kept.map(name => [name, stored[name]])) };
  forgetGoneOperations(extension, next);
  const faults = configure(extension, next, asked);
  return faults.length > 0 ? { ok: false, faults } : { ok: true, definition: { ...next, [extensionName]: extension } };
}
