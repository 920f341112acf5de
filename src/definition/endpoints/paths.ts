import type { JsonObject } from '#base/json-tree.ts';
import { isObject, objectOrEmpty } from '#base/json-tree.ts';

/** Methods of an OpenAPI path item. */
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/** Operation of an OpenAPI document. */
export interface OasOperation {
  readonly id: string;
  readonly path: string;
  readonly method: string;
}

/** Id of an operation without `operationId`. */
export const defaultOperationId = (path: string, method: string) => `${path.replace(/^\//, '')}${method.toUpperCase()}`;

/** The `operationId`, or the default id. */
export const operationIdOf = ({ operationId }: JsonObject, path: string, method: string): string =>
  typeof operationId === 'string' && operationId !== '' ? operationId : defaultOperationId(path, method);

/** Path items of a document, without extensions, which do not begin with a slash. */
export const listPathItems = (paths: unknown): [path: string, item: unknown][] =>
  Object.entries(objectOrEmpty(paths)).filter(([path]) => path.startsWith('/'));

/** All operations, the more specific path first: more segments, then longer text, then alphabetical. */
export function listOperations(paths: unknown): OasOperation[] {
  const operations: OasOperation[] = [];
  for (const [path, item] of listPathItems(paths).sort(([a], [b]) => compareSpecificity(a, b)))
    for (const method of methods) {
      const operation = objectOrEmpty(item)[method];
      if (isObject(operation))
        operations.push({ id: operationIdOf(operation, path, method), path, method: method.toUpperCase() });
    }
  return operations;
}

const countSegments = (path: string) => path.split('/').length;
const withoutParameters = (path: string) => path.replace(/\{[^}]*\}/g, '');

export function compareSpecificity(a: string, b: string): number {
  const bare = [withoutParameters(a), withoutParameters(b)] as const;
  return (
    countSegments(b) - countSegments(a) ||
    bare[1].length - bare[0].length ||
    // Of two equal without their parameters, the one without parameters is more specific.
    (bare[0] === bare[1] ? a.length - b.length : 0) ||
    (a < b ? -1 : a > b ? 1 : 0)
  );
}

/**
 * Classic pattern that matches exactly an OpenAPI path: characters outside parameters are percent-encoded where a
 * pattern gives them a meaning. A segment `*` matches any segment in both.
 */
export function toClassicPath(path: string): string {
  const parts = path.split(/(\{[^{}]*\})/);
  return parts.map((part, at) => (at % 2 === 1 ? part : part.replaceAll(specialCharacter, percentEncode))).join('');
}

const specialCharacter = /[.$()+?^|[\]{}\\"<>`#]|(?<!\/)\*|\*(?!\/|$)/g;

const percentEncode = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

const literal = /^[A-Za-z0-9._-]*$/;

/**
 * OpenAPI path of a classic pattern. A segment with a pattern becomes a parameter that carries it, since OpenAPI paths
 * have no patterns.
 */
export function toOpenApiPath(path: string): { path: string; parameters: JsonObject[] } {
  const parameters: JsonObject[] = [];
  const segments = (path.startsWith('/') ? path : `/${path}`).split('/').map(segment => {
    const parameter = /^\{([^:{}]+)(?::(.*))?\}$/.exec(segment);
    if (parameter) {
      parameters.push(pathParameter(parameter[1]!, parameter[2]));
      return `{${parameter[1]}}`;
    }
    const plain = segment.replaceAll('%2E', '.');
    if (literal.test(plain)) return plain;
    const name = `customRegex${parameters.filter(({ name }) => String(name).startsWith('customRegex')).length + 1}`;
    parameters.push(pathParameter(name, segment));
    return `{${name}}`;
  });
  return { path: segments.join('/'), parameters };
}

const pathParameter = (name: string, pattern: string | undefined): JsonObject => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string', ...(pattern ? { pattern } : {}) },
});
