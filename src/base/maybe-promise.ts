/** A value that is there, or will be. Callers await only what is a promise: a synchronous path stays synchronous. */
export type MaybePromise<T> = T | Promise<T>;

/** Continues with a value that is there at once, or will be, without making a promise of the former. */
export const andThen = <T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  value instanceof Promise ? value.then(next) : next(value);

/**
 * Runs `run` and continues with its value, at once or when its promise resolves; a throw or a rejection goes to `fail`.
 * All three take their state from `subject`, so that a synchronous path creates neither a closure nor a promise.
 */
export function attempt<S, T>(
  subject: S,
  run: (subject: S) => MaybePromise<T>,
  next: (subject: S, value: T) => void,
  fail: (subject: S, error: unknown) => void,
): void {
  let value: MaybePromise<T>;
  try {
    value = run(subject);
  } catch (error) {
    return fail(subject, error);
  }
  if (value instanceof Promise) continueLater(value, subject, next, fail);
  else next(subject, value);
}

/** A function of its own: the closures, and the scope they need, exist only for promises. */
function continueLater<S, T>(
  promise: Promise<T>,
  subject: S,
  next: (subject: S, value: T) => void,
  fail: (subject: S, error: unknown) => void,
): void {
  promise.then(
    value => next(subject, value),
    error => fail(subject, error),
  );
}
