/** Parts that documents are put together from. */
export type Bag = Record<string, unknown>;

export const versions = ['3.0.0', '3.0.3', '3.0.4', '3.1.0', '3.1.1'] as const;

export const ok = (more: object = {}): Bag => ({ 200: { description: 'OK', ...more } });
export const json = (schema: unknown, more: object = {}): Bag => ({
  content: { 'application/json': { schema, ...more } },
});
export const operation = (operationId: string, more: object = {}): Bag => ({ operationId, responses: ok(), ...more });
export const parameter = (name: string, place = 'path', more: object = {}): Bag => ({
  name,
  in: place,
  ...(place === 'path' ? { required: true } : {}),
  schema: { type: 'string' },
  ...more,
});

export const document = (paths: unknown, more: object = {}): Bag => ({
  openapi: '3.0.3',
  info: { title: 'Sample', version: '1.0.0' },
  paths,
  ...more,
});

/** One path that can be requested in every document. */
export const simplePath = { '/ping': { get: operation('ping') } };
