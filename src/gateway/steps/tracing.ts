import { createSpanId, createTraceId } from '#base/otlp/trace-ids.ts';
import type { Settings } from '#base/settings.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { createTracePropagation } from '../tracing/propagation.ts';
import { tagRecord } from '../tracing/request-tracer.ts';

const reads = { api: ['detail'] } as const satisfies StepReads;

/**
 * Detailed tracing. Where traces are exported, every step of the API gets a span (`build-chain.ts` measures them);
 * otherwise the step continues the trace of the client or starts one, and forwards it.
 */
export const tracingStep: Step<{ readonly settings: Settings }, typeof reads> = {
  name: 'tracing',
  reads,
  build({ model, services: { settings } }) {
    if (!model.detail.tracing) return undefined;
    const { readParent, writeContext } = createTracePropagation(settings);
    return {
      request(call) {
        if (call.trace !== undefined) {
          call.trace.isDetailed = true;
          tagRecord(call, call.trace);
          return undefined;
        }
        const parent = readParent(call);
        const traceId = parent?.traceId ?? createTraceId();
        const isSampled = parent?.isSampled ?? true;
        const context = { traceId, spanId: createSpanId(), parentSpanId: createSpanId(), isSampled };
        writeContext(call.headers, context, parent === undefined);
        if (call.traceId !== traceId) {
          call.traceId = traceId;
          call.tags ??= [];
          call.tags.push(`trace-id-${traceId}`);
        }
        return undefined;
      },
    };
  },
};
