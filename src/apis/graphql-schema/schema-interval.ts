import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';

/** Interval in seconds of schema updates of a classic definition; 0 for none. */
export function readSchemaInterval(definition: JsonObject): number {
  const { enabled, schema_updates: updates } = objectOrEmpty(definition.graphql);
  const { interval_seconds: interval } = objectOrEmpty(updates);
  return enabled === true && typeof interval === 'number' ? interval : 0;
}
