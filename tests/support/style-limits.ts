/** Exceptions from the style guide. Numbers and lists only shrink. */
export const styleLimits = {
  participles: 0,
  pronounOpenings: 0,
  peopleWords: 3,
  /** Names that play the same role in every module. */
  repeatedExports: new Set(['problem']),
};

/** Timers that are no periodic work, or periodic work that `base/repeat.ts` does not fit, each with the reason. */
export const timerLoops: Readonly<Record<string, string>> = {
  'src/base/repeat.ts every': 'the timer loop itself',
  'src/base/timeout-queue.ts #setTimer': 'one timer for many timeouts, set to the first that expires',
  'src/gateway/proxy/http1/shared-state.ts startSweep':
    'traffic path: runs only while connections are idle, and without promises',
  'src/gateway/runtime/threads.ts start': 'restart delay of a thread that has exited',
  'src/gateway/server/body-rate.ts watch': 'traffic path: runs only while bodies are awaited, and without promises',
  'src/storage/pg-notify.ts reconnect': 'reconnect delay after the events of a lost connection',
  'src/storage/shared/redis-timeout.ts wait': 'one timeout in a bounded number of slices',
};

/** Functions over 60 lines: most are factories whose methods share state. */
export const longFunctions: ReadonlySet<string> = new Set([
  'src/gateway/auth/key-cache.ts createKeyCache',
  'src/gateway/auth/oauth/provider.ts createOauthProvider',
  'src/gateway/auth/key-cache.ts createKeyCache',
  'src/gateway/auth/oauth/provider.ts createOauthProvider',
  'src/gateway/runtime/thread.ts runThread',
  'src/gateway/runtime/threads.ts start',
  'src/gateway/runtime/threads.ts startThreads',
  'src/gateway/server/http1.ts createHttp1Transport',
  'src/gateway/server/http2.ts createHttp2Transport',
]);
