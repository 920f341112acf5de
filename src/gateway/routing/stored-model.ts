import type { StoredApi } from '#apis/api/schema.ts';
import { fromHookReferences } from '#definition/facets/event-handlers.ts';
import { classicToModel, type Model, oasToModel } from '#definition/model.ts';

export function toModelOfStored(stored: StoredApi): Model {
  const model =
    stored.kind === 'classic'
      ? classicToModel(stored.definition)
      : oasToModel(stored.definition as Parameters<typeof oasToModel>[0]);
  const referenced = fromHookReferences(stored.wrapper.hook_references);
  if (referenced.length === 0) return model;
  return { ...model, events: { ...model.events, handlers: [...model.events.handlers, ...referenced] } };
}
