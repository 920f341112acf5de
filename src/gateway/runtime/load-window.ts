/** Seconds that the figures of a process cover. */
const windowSeconds = 60;

interface LoadSample {
  readonly atMs: number;
  /** Requests since the start. */
  readonly requests: number;
  readonly delayMs: number;
}

/** Load of the last minute from one sample a second; `atMs` is a monotonic time. */
export function createLoadWindow() {
  const samples: LoadSample[] = [];
  return {
    add(sample: LoadSample): void {
      samples.push(sample);
      if (samples.length > windowSeconds + 1) samples.shift();
    },
    /** Zero before the second sample. */
    read() {
      const [first, last] = [samples[0], samples.at(-1)];
      const seconds = first && last ? (last.atMs - first.atMs) / 1000 : 0;
      return {
        requestsPerSecond: seconds > 0 ? (last!.requests - first!.requests) / seconds : 0,
        eventLoopDelayMs: Math.max(0, ...samples.map(({ delayMs }) => delayMs)),
      };
    },
  };
}
