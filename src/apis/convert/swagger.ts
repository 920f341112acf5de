import type { JsonObject } from '#base/json-tree.ts';
import { loadOpenApiUpgrader } from '#base/lazy-packages.ts';
import { type Converted, createWarnings } from './converted.ts';
import { warnOfDocument } from './openapi.ts';
import { createTextProblem, createUnsupportedVersion } from './problems.ts';

/**
 * Converts Swagger 2.0 to OpenAPI 3.0 with the Scalar upgrader. It works on the parsed value alone: references to other
 * files are not followed, and nothing is fetched.
 */
export function convertSwagger(source: JsonObject): Converted {
  if (source.swagger !== '2.0' && source.swagger !== 2)
    throw createUnsupportedVersion('Swagger', source.swagger, 'Swagger 2.0');
  const warnings = createWarnings();
  warnOfDocument(source, warnings);
  if (source.host === undefined) warnings.add('the document has no host: set the upstream');
  return { kind: 'openapi', document: withoutUndefined(upgrade(source)), warnings: warnings.list() };
}

/** The library expects a valid document, and fails with errors of the language on others. */
function upgrade(source: JsonObject): JsonObject {
  try {
    return loadOpenApiUpgrader().upgradeFromTwoToThree({ ...source, swagger: '2.0' });
  } catch (cause) {
    throw createTextProblem('it is no valid Swagger 2.0 document', cause);
  }
}

/** The library leaves members without a value, which JSON does not have. */
const withoutUndefined = (document: JsonObject): JsonObject => JSON.parse(JSON.stringify(document)) as JsonObject;
