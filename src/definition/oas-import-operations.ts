import type { Bag, Path } from '#base/json-tree.ts';
import { at, bagOf, isBag, isSilent, listOf, put } from '#base/json-tree.ts';
import { mediaType } from '#base/media-type.ts';
import { methods, operationIdOf, operationsOf, pathItemsOf } from './endpoints/paths.ts';
import type { ImportAsked } from './oas-import.ts';

/** What a call that does not fit its operation is answered with unless the author says otherwise. */
const unfitStatus = 422;

/**
 * A copy in which every operation has an id, by which the gateway's part can name it. What stands elsewhere in the document
 * is brought to its path, since an operation that is there twice cannot have one id.
 */
export function withOperationIds(given: Bag): Bag {
  const document = structuredClone(given);
  for (const [path, item] of pathItemsOf(document.paths)) {
    const target = resolved(document, item);
    if (target !== item && isBag(target)) put(document, ['paths', path], structuredClone(target));
  }
  const operations = pathItemsOf(document.paths).flatMap(([path, item]) =>
    methods.flatMap(method => {
      const operation = at(item, [method]);
      return isBag(operation) ? [{ path, method, operation }] : [];
    }),
  );
  const taken = new Set(operations.map(({ operation }) => operation.operationId));
  for (const { path, method, operation } of operations) {
    if (!isSilent(operation.operationId)) continue;
    operation.operationId = freeId(operationIdOf(path, method), taken);
    taken.add(operation.operationId);
  }
  return document;
}

/** An author may have given one operation the id another one would have. */
function freeId(wanted: string, taken: ReadonlySet<unknown>): string {
  let id = wanted;
  for (let count = 2; taken.has(id); count++) id = `${wanted}_${count}`;
  return id;
}

/** Switches what was asked for on or off on every operation it makes sense for. */
export function configureOperations(extension: Bag, document: Bag, asked: ImportAsked): void {
  for (const { id, path, method } of operationsOf(document.paths)) {
    const item = bagOf(at(document, ['paths', path]));
    const operation = bagOf(item[method.toLowerCase()]);
    const place = (...rest: Path) => ['middleware', 'operations', id, ...rest];
    const say = (value: boolean | undefined, ...rest: Path) => {
      if (value !== undefined) put(extension, place(...rest, 'enabled'), value);
    };
    say(asked.allowList, 'allow');
    if (asked.allowList === true && at(extension, place('block', 'enabled')) === true) say(false, 'block');
    if (asked.validateRequest !== undefined && canBeValidated(document, item, operation)) {
      say(asked.validateRequest, 'validateRequest');
      const status = place('validateRequest', 'errorResponseCode');
      if (at(extension, status) === undefined) put(extension, status, unfitStatus);
    }
    if (asked.mockResponse !== undefined && canBeMocked(document, operation)) {
      say(asked.mockResponse, 'mockResponse');
      say(asked.mockResponse, 'mockResponse', 'fromOASExamples');
    }
  }
}

/** Takes away what the gateway's part says of operations the document does not have. */
export function forgetGoneOperations(extension: Bag, document: Bag): void {
  const operations = at(extension, ['middleware', 'operations']);
  if (!isBag(operations)) return;
  const known = new Set(operationsOf(document.paths).map(({ id }) => id));
  for (const id of Object.keys(operations)) if (!known.has(id)) delete operations[id];
}

function canBeValidated(document: Bag, item: Bag, operation: Bag): boolean {
  if (listOf(operation.parameters).length + listOf(item.parameters).length > 0) return true;
  const { content } = bagOf(resolved(document, operation.requestBody));
  return Object.keys(bagOf(content)).some(type => mediaType(type) === 'application/json');
}

const canBeMocked = (document: Bag, operation: Bag): boolean =>
  Object.values(bagOf(operation.responses)).some(response => {
    const { content } = bagOf(resolved(document, response));
    return Object.values(bagOf(content)).some(
      media => isBag(media) && (media.example !== undefined || isBag(media.examples) || isBag(media.schema)),
    );
  });

/** A reference to a reference to itself would never end. */
const mostHops = 10;

/** What a reference inside the document leads to. */
function resolved(document: Bag, value: unknown, hops = mostHops): unknown {
  const reference = bagOf(value).$ref;
  if (typeof reference !== 'string') return value;
  if (!reference.startsWith('#/') || hops === 0) return undefined;
  const names = reference.slice(2).split('/');
  const target = names.map(name => decoded(name).replaceAll('~1', '/').replaceAll('~0', '~'));
  return resolved(document, at(document, target), hops - 1);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // A lone percent sign stands for itself.
    return name;
  }
}
