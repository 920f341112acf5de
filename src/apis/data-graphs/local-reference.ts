import { unescapePointerToken } from '#base/json-pointer.ts';
import { isObject, type JsonObject } from '#base/json-tree.ts';
import { createDocumentProblem } from './problems.ts';

/** A part of a document, and where it is. */
export interface DocumentPart {
  readonly value: JsonObject;
  /** JSON pointer. */
  readonly place: string;
}

const maxReferenceHops = 16;
const maxReferenceLength = 1000;
/** Targets by document and reference: each is searched once. */
const targets = new WeakMap<JsonObject, Map<string, unknown>>();

/** Follows `$ref` inside the document. Other documents are not fetched; a chain of references is bounded. */
export function resolveLocalReference(root: JsonObject, value: unknown, place: string): DocumentPart {
  let part = value;
  let at = place;
  for (let hop = 0; hop <= maxReferenceHops; hop++) {
    if (!isObject(part)) throw createDocumentProblem(at, 'must be an object');
    const { $ref } = part;
    if ($ref === undefined) return { value: part, place: at };
    if (typeof $ref !== 'string' || !$ref.startsWith('#/') || $ref.length > maxReferenceLength)
      throw createDocumentProblem(`${at}/$ref`, 'must be a reference inside the document');
    part = findTarget(root, $ref, `${at}/$ref`);
    at = $ref.slice(1);
  }
  throw createDocumentProblem(place, `is a chain of more than ${maxReferenceHops} references, or a circle`);
}

function findTarget(root: JsonObject, reference: string, place: string): unknown {
  const known = targets.get(root) ?? new Map<string, unknown>();
  targets.set(root, known);
  if (!known.has(reference)) known.set(reference, readPointer(root, reference, place));
  return known.get(reference);
}

function readPointer(root: JsonObject, reference: string, place: string): unknown {
  let value: unknown = root;
  for (const segment of reference.slice(2).split('/')) {
    const name = decodeSegment(segment, place);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      throw createDocumentProblem(place, `there is no ${reference}`);
    value = (value as JsonObject)[name];
  }
  return value;
}

function decodeSegment(segment: string, place: string): string {
  try {
    return unescapePointerToken(decodeURIComponent(segment));
  } catch {
    throw createDocumentProblem(place, 'is no JSON pointer');
  }
}
