import { type FormObject, readFieldValue, toJsonObject, withMember } from '../form/json-members.ts';
import { gatewayMember } from '../form/use-definition-schema.ts';
import { type DocumentOperation, listDocumentOperations } from '../operations-of-document.ts';
import { middlewareKinds } from './endpoint-middleware.ts';

/** ApiEndpoint of an API: an operation of its document with its middleware. */
export interface ApiEndpoint extends DocumentOperation {
  /** The operation's id, or the one that the server derives from method and path. */
  readonly id: string;
  /** Names of its middleware, in order of execution. */
  readonly middleware: readonly string[];
}

export const settingsPath = [gatewayMember, 'middleware', 'operations'] as const;
const maxIdNumber = 1000;

export function listEndpoints(definition: FormObject): readonly ApiEndpoint[] {
  const settings = toJsonObject(readFieldValue(definition, settingsPath));
  return listDocumentOperations(definition).map(operation => {
    const { path, method, operationId } = operation;
    const id = operationId || toDefaultId(path, method);
    const members = toJsonObject(settings[id]);
    return { ...operation, id, middleware: middlewareKinds.map(it => it.name).filter(name => name in members) };
  });
}

/** Id of an operation without one, as the server derives it. */
export const toDefaultId = (path: string, method: string): string =>
  `${path.replace(/^\//, '')}${method.toUpperCase()}`;

/** Adds an operation to the document; parameters of the path are declared as texts. */
export function addEndpoint(definition: FormObject, method: string, path: string): { definition: unknown; id: string } {
  const taken = new Set(listEndpoints(definition).map(({ id }) => id));
  const wanted = toDefaultId(path, method);
  let id = wanted;
  for (let number = 2; taken.has(id) && number < maxIdNumber; number++) id = `${wanted}-${number}`;
  const names = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name!);
  const declared = readFieldValue(definition, ['paths', path, 'parameters']) !== undefined;
  const parameters = names.map(name => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const operation = {
    operationId: id,
    ...(names.length > 0 && !declared ? { parameters } : {}),
    responses: { 200: { description: 'OK' } },
  };
  return { definition: withMember(definition, ['paths', path, method.toLowerCase()], operation), id };
}

/** Removes an operation, its middleware, and a path that has no other operation. */
export function removeEndpoint(definition: FormObject, { path, method, id }: ApiEndpoint): unknown {
  let next = withMember(definition, ['paths', path, method.toLowerCase()], undefined) as FormObject;
  if (!listDocumentOperations(next).some(it => it.path === path))
    next = withMember(next, ['paths', path], undefined) as FormObject;
  return readFieldValue(next, [...settingsPath, id]) === undefined
    ? next
    : withMember(next, [...settingsPath, id], undefined);
}

interface EndpointFilter {
  readonly q?: string | undefined;
  readonly method?: string | undefined;
  /** Name of a middleware that the endpoint must have. */
  readonly with?: string | undefined;
}

export const filterEndpoints = (endpoints: readonly ApiEndpoint[], filter: EndpointFilter): readonly ApiEndpoint[] =>
  endpoints.filter(
    ({ path, id, summary, method, middleware }) =>
      `${path} ${id} ${summary}`.toLowerCase().includes((filter.q ?? '').toLowerCase()) &&
      (!filter.method || filter.method === method) &&
      (!filter.with || middleware.includes(filter.with)),
  );
