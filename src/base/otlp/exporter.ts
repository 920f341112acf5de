import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type DeliveryOptions, deliverBody } from './delivery.ts';

export interface ExporterOptions extends DeliveryOptions {
  /** Bound of the queue; parts of the request in progress do not count. */
  readonly maxQueueBytes: number;
  /** Wraps queued parts into the body of one request. */
  readonly frame: (parts: readonly Uint8Array[]) => Buffer;
}

export interface ExportTotals {
  /** Items that the collector accepted. */
  readonly exported: number;
  /** Items dropped for lack of room in the queue. */
  readonly dropped: number;
  /** Items that the collector refused, or that were not delivered within the attempts. */
  readonly failed: number;
}

/** OTLP/HTTP exporter: a bounded queue and one request at a time. */
export interface OtlpExporter {
  /** Queues encoded items; never waits. Without room they are dropped and counted. */
  add(part: Uint8Array, count: number): void;
  totals(): ExportTotals;
  /** Sends what is queued until the deadline; the rest counts as failed. */
  close(deadlineMs?: number): Promise<void>;
}

interface QueuedPart {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** Bodies are filled with queued parts up to this size; one part may be larger. */
const maxBodyBytes = 1_048_576;
/** Time for the last requests at shutdown. */
const closeDeadlineMs = 5000;

const compress = promisify(gzip);

export function createOtlpExporter(options: ExporterOptions): OtlpExporter {
  const { signal, log, frame, compresses, maxQueueBytes } = options;
  const queue: QueuedPart[] = [];
  const stop = new AbortController();
  const totals = { exported: 0, dropped: 0, failed: 0 };
  let queuedBytes = 0;
  let sending: Promise<void> | undefined;
  let isClosing = false;

  async function sendQueue(): Promise<void> {
    while (queue.length > 0 && !stop.signal.aborted) {
      const parts = takeParts(queue);
      for (const { bytes } of parts) queuedBytes -= bytes.length;
      const body = frame(parts.map(part => part.bytes));
      const rejection = await deliverBody(options, compresses ? await compress(body) : body, stop.signal);
      const count = parts.reduce((sum, part) => sum + part.count, 0);
      const rejected = rejection ? Math.min(count, rejection.count) : count;
      totals.exported += count - rejected;
      totals.failed += rejected;
      // Partial success: the collector accepted the request and rejected some of its items.
      if (rejection && (rejected > 0 || rejection.message !== ''))
        log.warn({ signal, rejected, reason: rejection.message }, 'telemetry partly rejected');
    }
  }

  function start(): void {
    sending ??= sendQueue()
      .catch(error => log.error({ err: error, signal }, 'telemetry export failed'))
      .finally(() => {
        sending = undefined;
        if (queue.length > 0 && !stop.signal.aborted) start();
      });
  }

  return {
    add(bytes, count) {
      if (count === 0) return;
      if (isClosing || queuedBytes + bytes.length > maxQueueBytes) {
        totals.dropped += count;
        return;
      }
      queue.push({ bytes, count });
      queuedBytes += bytes.length;
      start();
    },
    totals: () => ({ ...totals }),
    async close(deadlineMs = closeDeadlineMs) {
      isClosing = true;
      const deadline = setTimeout(() => stop.abort(new Error('the process ends')), deadlineMs);
      while (sending) await sending;
      clearTimeout(deadline);
      for (const { count } of queue.splice(0)) totals.failed += count;
    },
  };
}

/** Takes the first part, and as many more as fit into one body. */
function takeParts(queue: QueuedPart[]): QueuedPart[] {
  let count = 1;
  let size = queue[0]!.bytes.length;
  while (count < queue.length && size + queue[count]!.bytes.length <= maxBodyBytes)
    size += queue[count++]!.bytes.length;
  return queue.splice(0, count);
}
