import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { type Converted, createWarnings, type Warnings } from './converted.ts';
import { createUnsupportedVersion } from './problems.ts';

/** OpenAPI 3 needs no conversion: the warnings name what an import cannot use. */
export function convertOpenApi(document: JsonObject): Converted {
  const { openapi } = document;
  if (typeof openapi !== 'string' || !/^3\.\d/.test(openapi))
    throw createUnsupportedVersion('OpenAPI', openapi, 'OpenAPI 3');
  const warnings = createWarnings();
  warnOfDocument(document, warnings);
  const { url } = objectOrEmpty(arrayOrEmpty(document.servers)[0]);
  if (typeof url !== 'string' || !/^https?:\/\//i.test(url))
    warnings.add('the first server is no absolute URL: set the upstream');
  return { kind: 'openapi', document, warnings: warnings.list() };
}

/** Warns of references to other documents, which are not followed. */
export function warnOfDocument(document: JsonObject, warnings: Warnings): void {
  const waiting: unknown[] = [document];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (isObject(value) && typeof value.$ref === 'string' && !value.$ref.startsWith('#'))
      warnings.add(`the reference ${value.$ref} is not followed`);
    for (const member of Object.values(value as object))
      if (typeof member === 'object' && member !== null) waiting.push(member);
  }
}
