import { isObject, type JsonObject } from '#base/json-tree.ts';

export const maskedMessage = 'Internal server error';

/**
 * The response with masked errors; undefined where it has none. A body that cannot be read, or an error page, is masked
 * as a whole.
 */
export function maskErrors(value: unknown, status: number): JsonObject | readonly unknown[] | undefined {
  if (Array.isArray(value)) {
    const masked = value.map(item => maskErrors(item, status));
    return masked.some(item => item !== undefined) ? masked.map((item, at) => item ?? value[at]) : undefined;
  }
  if (!isObject(value)) return { errors: [{ message: maskedMessage }] };
  if (Array.isArray(value.errors))
    return { ...value, extensions: undefined, errors: value.errors.map(maskError) } as JsonObject;
  return status >= 400 ? { errors: [{ message: maskedMessage }] } : undefined;
}

/** Path and locations are of the request; message and extensions may be of the inside of the upstream. */
function maskError(error: unknown): JsonObject {
  const { path, locations } = isObject(error) ? error : {};
  return { message: maskedMessage, ...(path !== undefined && { path }), ...(locations !== undefined && { locations }) };
}
