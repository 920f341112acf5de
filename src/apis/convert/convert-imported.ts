import { isObject, textOrEmpty } from '#base/json-tree.ts';
import { Problem } from '#base/problems.ts';
import { parseDocumentText } from '#operations/body.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { convertBlueprint } from './blueprint.ts';
import type { Converted } from './converted.ts';
import { convertOpenApi } from './openapi.ts';
import { problem } from './problems.ts';
import { convertSwagger } from './swagger.ts';

/** Converts the member `swagger` of an import, in which errors have their path. */
export const convertImported = (source: unknown, maxBytes: number): Converted =>
  convertMember('swagger', () => {
    const document = typeof source === 'string' ? parseDocumentText(source, maxBytes) : source;
    if (!isObject(document)) throw problem.text_invalid({ detail: { reason: 'must be an object in JSON or YAML' } });
    return document.openapi === undefined ? convertSwagger(document) : convertOpenApi(document);
  });

/** Converts the member `blueprint` of an import. */
export const convertImportedBlueprint = (source: string, maxBytes: number): Converted =>
  convertMember('blueprint', () => convertBlueprint(source, maxBytes));

function convertMember(path: string, convert: () => Converted): Converted {
  try {
    return convert();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== problem.text_invalid.code) throw error;
    throw createInvalidProblem([{ path, message: textOrEmpty(error.detail.reason) }]);
  }
}
