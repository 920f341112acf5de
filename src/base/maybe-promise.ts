/** A value that is there, or will be. Callers await only what is a promise: a synchronous path stays synchronous. */
export type MaybePromise<T> = T | Promise<T>;

/** Continues with a value that is there at once, or will be, without making a promise of the former. */
export const andThen = <T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  value instanceof Promise ? value.then(next) : next(value);
