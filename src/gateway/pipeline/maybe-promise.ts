import type { MaybePromise } from '#base/maybe-promise.ts';

/** Continues with a value, at once where it is there already: a promise costs a turn of the event loop. */
export const andThen = <T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  value instanceof Promise ? value.then(next) : next(value);
