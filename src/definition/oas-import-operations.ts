import { parsePointerFragment } from '#base/json-pointer.ts';
import type { JsonObject, JsonPath } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isObject, isZeroValue, objectOrEmpty, setAt } from '#base/json-tree.ts';
import { parseMediaType } from '#base/media-type.ts';
import { defaultOperationId, listOperations, listPathItems, methods } from './endpoints/paths.ts';
import type { ImportOptions } from './import-options.ts';

/** Status of a failed request validation unless the author sets another. */
const validationErrorStatus = 422;

/**
 * Copies a document and gives every operation an id, by which the gateway extension names it. Referenced path items are
 * inlined, since an operation that occurs twice cannot have one id.
 */
export function withOperationIds(source: JsonObject): JsonObject {
  const document = structuredClone(source);
  for (const [path, item] of listPathItems(document.paths)) {
    const target = resolveReference(document, item);
    if (target !== item && isObject(target)) setAt(document, ['paths', path], structuredClone(target));
  }
  const operations = listPathItems(document.paths).flatMap(([path, item]) =>
    methods.flatMap(method => {
      const operation = getAt(item, [method]);
      return isObject(operation) ? [{ path, method, operation }] : [];
    }),
  );
  const taken = new Set(operations.map(({ operation }) => operation.operationId));
  for (const { path, method, operation } of operations) {
    if (!isZeroValue(operation.operationId)) continue;
    operation.operationId = createUniqueId(defaultOperationId(path, method), taken);
    taken.add(operation.operationId);
  }
  return document;
}

/** The author may have used the default id of another operation. */
function createUniqueId(base: string, taken: ReadonlySet<unknown>): string {
  let id = base;
  for (let count = 2; taken.has(id); count++) id = `${base}_${count}`;
  return id;
}

/** Enables or disables the requested features on every operation they apply to. */
export function configureOperations(extension: JsonObject, document: JsonObject, options: ImportOptions): void {
  for (const { id, path, method } of listOperations(document.paths)) {
    const item = objectOrEmpty(getAt(document, ['paths', path]));
    const operation = objectOrEmpty(item[method.toLowerCase()]);
    const place = (...rest: JsonPath) => ['middleware', 'operations', id, ...rest];
    const setEnabled = (value: boolean | undefined, ...rest: JsonPath) => {
      if (value !== undefined) setAt(extension, place(...rest, 'enabled'), value);
    };
    setEnabled(options.allowList, 'allow');
    if (options.allowList === true && getAt(extension, place('block', 'enabled')) === true) setEnabled(false, 'block');
    if (options.validateRequest !== undefined && canBeValidated(document, item, operation)) {
      setEnabled(options.validateRequest, 'validateRequest');
      const status = place('validateRequest', 'errorResponseCode');
      if (getAt(extension, status) === undefined) setAt(extension, status, validationErrorStatus);
    }
    if (options.mockResponse !== undefined && canBeMocked(document, operation)) {
      setEnabled(options.mockResponse, 'mockResponse');
      setEnabled(options.mockResponse, 'mockResponse', 'fromOASExamples');
    }
  }
}

/** Removes settings of operations the document does not have. */
export function pruneOperations(extension: JsonObject, document: JsonObject): void {
  const operations = getAt(extension, ['middleware', 'operations']);
  if (!isObject(operations)) return;
  const known = new Set(listOperations(document.paths).map(({ id }) => id));
  for (const id of Object.keys(operations)) if (!known.has(id)) delete operations[id];
}

function canBeValidated(document: JsonObject, item: JsonObject, operation: JsonObject): boolean {
  if (arrayOrEmpty(operation.parameters).length + arrayOrEmpty(item.parameters).length > 0) return true;
  const { content } = objectOrEmpty(resolveReference(document, operation.requestBody));
  return Object.keys(objectOrEmpty(content)).some(type => parseMediaType(type) === 'application/json');
}

const canBeMocked = (document: JsonObject, operation: JsonObject): boolean =>
  Object.values(objectOrEmpty(operation.responses)).some(response => {
    const { content } = objectOrEmpty(resolveReference(document, response));
    return Object.values(objectOrEmpty(content)).some(
      media => isObject(media) && (media.example !== undefined || isObject(media.examples) || isObject(media.schema)),
    );
  });

/** Bounds chains of references, which may be circular. */
const maxReferenceHops = 10;

/** Resolves a reference inside the document. */
function resolveReference(document: JsonObject, value: unknown, hops = maxReferenceHops): unknown {
  const reference = objectOrEmpty(value).$ref;
  if (typeof reference !== 'string') return value;
  if (!reference.startsWith('#/') || hops === 0) return undefined;
  return resolveReference(document, getAt(document, parsePointerFragment(reference.slice(2))), hops - 1);
}
