import type { AccessLogCounts } from '#analytics/metrics-report.ts';
import type { Clock } from '#base/clock.ts';
import { createLineOutput } from '#base/line-output.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { InvalidRequestReport } from '../pipeline/invalid-request.ts';
import { createAccessLogFormat, type RequestOutcome } from './access-log-line.ts';
import type { ApiAnalytics } from './api-analytics.ts';

/** Access log of a thread: one line per request, buffered and written in batches. Never waits, never fails a request. */
export interface AccessLog {
  /** Generates the request id where there is none; the record, written after it, has the same. */
  write(call: Exchange, api: ApiAnalytics | undefined, outcome: RequestOutcome): void;
  writeInvalid(request: InvalidRequestReport): void;
  /** Log rotation. */
  reopen(): Promise<void>;
  /** Returns and resets the counts since the last call; undefined without any. */
  drainCounts(): AccessLogCounts | undefined;
  /** Writes the remaining lines. */
  close(): Promise<void>;
}

export interface AccessLogOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  /** Redacts secrets of definitions. */
  readonly redact: (text: string) => string;
}

/** Undefined where the access log is off. */
export async function createAccessLog(options: AccessLogOptions): Promise<AccessLog | undefined> {
  const { settings, clock, log } = options;
  if (settings['access_log.output'] === 'off') return undefined;
  const output = await createLineOutput({
    path: settings['access_log.file'],
    maxBufferBytes: settings['access_log.max_buffer_bytes'],
    onError: error => log.error({ reason: error.message }, 'access log not written'),
  });
  const format = createAccessLogFormat(options);
  const isSampled = createSampler(settings['access_log.sample_share']);
  const logsErrors = settings['access_log.errors'];
  let accepted = 0;
  let dropped = 0;

  function add(line: string): void {
    if (output.write(line)) accepted++;
    else dropped++;
  }

  return {
    write(call, api, outcome) {
      const isError = logsErrors && (outcome.status >= 400 || outcome.refusal !== '');
      if (isError || isSampled()) add(format.formatRequest(call, api, outcome));
    },
    writeInvalid(request) {
      if (logsErrors || isSampled()) add(format.formatInvalid(request, clock.now()));
    },
    reopen: output.reopen,
    drainCounts() {
      const counts: AccessLogCounts = { accepted, dropped, failed: output.drainLost() };
      if (accepted + dropped + counts.failed === 0) return undefined;
      accepted = 0;
      dropped = 0;
      return counts;
    },
    close: output.close,
  };
}

const wholeShare = 1_000_000_000;

/** Samples the exact share, evenly spread: each request adds its share, and a whole one is logged. */
function createSampler(share: number): () => boolean {
  if (share >= 1) return () => true;
  // Whole numbers: sums of fractions are not exact.
  const added = Math.round(share * wholeShare);
  let sum = 0;
  return () => {
    sum += added;
    if (sum < wholeShare) return false;
    sum -= wholeShare;
    return true;
  };
}
