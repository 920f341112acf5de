import type { JsonObject } from '#base/json-tree.ts';
import { isObject } from '#base/json-tree.ts';
import { extensionName, streamingName } from './document-members.ts';
import type { OasDefinition } from './oas.ts';
import { applyImportOptions, hasNoOptions, type ImportOptions } from './oas-import.ts';
import { pruneOperations, withOperationIds } from './oas-import-operations.ts';
import type { CheckResult } from './validation-error.ts';

/**
 * A stored API with a newer document. What the gateway knows of the API stays, without what it knew of operations that
 * are gone; the servers of the author stay where the newer document names none. A document that brings its own part for
 * the gateway, and asks for nothing beside it, is taken as it is.
 */
export function patchOas(stored: OasDefinition, given: unknown, options: ImportOptions): CheckResult<unknown> {
  if (!isObject(given)) return { ok: false, errors: [{ path: '', message: 'must be an object' }] };
  if (given[extensionName] !== undefined && hasNoOptions(options)) return { ok: true, definition: given };
  const document = withOperationIds(given);
  const extension = document[extensionName] ?? (structuredClone(stored[extensionName]) as JsonObject);
  if (!isObject(extension)) return { ok: false, errors: [{ path: extensionName, message: 'must be an object' }] };
  const keptNames = ['servers', streamingName].filter(
    name => document[name] === undefined && stored[name] !== undefined,
  );
  const next: JsonObject = { ...document, ...Object.fromEntries(keptNames.map(name => [name, stored[name]])) };
  pruneOperations(extension, next);
  const faults = applyImportOptions(extension, next, options);
  return faults.length > 0
    ? { ok: false, errors: faults }
    : { ok: true, definition: { ...next, [extensionName]: extension } };
}
