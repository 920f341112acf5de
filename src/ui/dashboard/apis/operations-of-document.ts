import { type FormObject, toJsonObject } from './form/json-members.ts';

/** Operation of an OpenAPI document. */
export interface DocumentOperation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** Its members in the document. */
  readonly value: FormObject;
}

const methods = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];

/** Operations in the order of the document; those without an id have an empty one. */
export const listDocumentOperations = (definition: FormObject): readonly DocumentOperation[] =>
  Object.entries(toJsonObject(definition.paths)).flatMap(([path, item]) =>
    methods
      .filter(method => Object.hasOwn(toJsonObject(item), method))
      .map(method => {
        const value = toJsonObject(toJsonObject(item)[method]);
        const { operationId = '', summary = '' } = value;
        return {
          method: method.toUpperCase(),
          path,
          operationId: String(operationId),
          summary: String(summary),
          value,
        };
      }),
  );
