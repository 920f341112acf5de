import { toJsonPointer } from '#base/json-pointer.ts';
import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';

/** A schema of a document, and its JSON pointer. */
export interface FoundSchema {
  readonly schema: unknown;
  readonly place: string;
}

/** Operations can share a body or response: its media types are read once. */
const foundSchemas = new WeakMap<JsonObject, FoundSchema | undefined>();

/** Schema of the JSON content of a request body or response. */
export function findJsonSchema(part: JsonObject, place: string): FoundSchema | undefined {
  if (!foundSchemas.has(part)) foundSchemas.set(part, readContent(part, place));
  return foundSchemas.get(part);
}

function readContent({ content }: JsonObject, place: string): FoundSchema | undefined {
  const types = Object.keys(objectOrEmpty(content));
  const json = types.find(it => /^application\/([\w.-]+\+)?json\b/i.test(it));
  if (json === undefined) return types.length === 0 ? undefined : { schema: undefined, place };
  const { schema } = objectOrEmpty(objectOrEmpty(content)[json]);
  return { schema, place: `${place}${toJsonPointer(['content', json, 'schema'])}` };
}
