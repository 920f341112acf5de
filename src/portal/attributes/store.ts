import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { problem } from '../problems.ts';
import type { StoredAttribute, StoredAttributeModel, StoredAttributeValue } from './schema.ts';

/** The model of users; the migration that created the tables inserted it. */
export const userModelId = 1;

export function createAttributeStore(records: Records) {
  const models = createNumberedStore<'portal_attribute_models', StoredAttributeModel>(
    records,
    'portal_attribute_models',
    () => ({}),
  );
  const custom = createNumberedStore<'portal_attributes', StoredAttribute>(
    records,
    'portal_attributes',
    it => ({ model_id: it.ModelID, identifier: it.Identifier }),
    problem.attribute_exists,
  );
  const values = createNumberedStore<'portal_attribute_values', StoredAttributeValue>(
    records,
    'portal_attribute_values',
    it => ({ user_id: it.UserID, attribute_id: it.AttributeID }),
  );
  const ofModel = (modelId: number) => custom.all({ model_id: modelId });

  return {
    models,
    custom: {
      ...custom,
      ofModel,
      /** Inside a transaction: reads an attribute under a row lock. */
      lock: (id: number) => custom.rows.lock({ id }),
      /** Removes an attribute with the values of all users. */
      remove: (id: number) =>
        records.write(async () => {
          await values.rows.remove({ attribute_id: id });
          return custom.remove(id);
        }),
    },
    values: {
      find: (userId: number, attributeId: number) => values.rows.find({ user_id: userId, attribute_id: attributeId }),
      ofUser: (userId: number) => values.all({ user_id: userId }),
      countOf: (attributeId: number) => values.count({ attribute_id: attributeId }),
      removeUser: (userId: number) => values.rows.remove({ user_id: userId }),
      remove: values.remove,
      /** Inside a transaction that holds the lock of the user. */
      async set(userId: number, attributeId: number, Value: string): Promise<void> {
        const where = { user_id: userId, attribute_id: attributeId };
        const changed = await values.rows.change(where, it => ({ ...it, Value }));
        if (!changed) await values.insert({ UserID: userId, AttributeID: attributeId, Value });
      },
    },
    /** Identifiers and values of a user, of the attributes that have one. */
    async listValues(userId: number): Promise<{ attribute: StoredAttribute; value: string }[]> {
      const byAttribute = new Map((await values.all({ user_id: userId })).map(it => [it.AttributeID, it.Value]));
      if (byAttribute.size === 0) return [];
      return (await ofModel(userModelId)).flatMap(attribute => {
        const value = byAttribute.get(attribute.ID);
        return value === undefined ? [] : [{ attribute, value }];
      });
    },
  };
}
