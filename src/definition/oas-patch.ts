import type { JsonObject } from '#base/json-tree.ts';
import { isObject } from '#base/json-tree.ts';
import type { CheckResult } from './check-result.ts';
import { extensionName, streamingName } from './document-members.ts';
import { hasNoOptions, type ImportOptions } from './import-options.ts';
import { applyImportOptions } from './oas-import.ts';
import { pruneOperations, withOperationIds } from './oas-import-operations.ts';
import type { OasDefinition } from './wire-types.ts';

/**
 * Replaces the document of a stored API. The gateway extension stays, without operations that no longer exist; the
 * servers stay where the new document names none. A document with its own extension and no options is taken as it is.
 */
export function patchOas(stored: OasDefinition, source: unknown, options: ImportOptions): CheckResult<unknown> {
  if (!isObject(source)) return { ok: false, errors: [{ path: '', message: 'must be an object' }] };
  if (source[extensionName] !== undefined && hasNoOptions(options)) return { ok: true, definition: source };
  const document = withOperationIds(source);
  const extension = document[extensionName] ?? (structuredClone(stored[extensionName]) as JsonObject);
  if (!isObject(extension)) return { ok: false, errors: [{ path: extensionName, message: 'must be an object' }] };
  const keptNames = ['servers', streamingName].filter(
    name => document[name] === undefined && stored[name] !== undefined,
  );
  const next: JsonObject = { ...document, ...Object.fromEntries(keptNames.map(name => [name, stored[name]])) };
  pruneOperations(extension, next);
  const errors = applyImportOptions(extension, next, options);
  return errors.length > 0 ? { ok: false, errors } : { ok: true, definition: { ...next, [extensionName]: extension } };
}
