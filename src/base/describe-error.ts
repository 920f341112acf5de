/** Reason of an error; an AggregateError (a name with several addresses) has an empty message of its own. */
export function describeError(error: unknown): string {
  const { message, errors, code } = (error ?? {}) as { message?: string; errors?: Error[]; code?: string };
  return message || errors?.map(each => each.message).join(', ') || code || 'unknown';
}
