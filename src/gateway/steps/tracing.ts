import { createPublicId } from '#base/ids.ts';
import type { Step, StepReads } from '../pipeline/step.ts';

const header = 'traceparent';
const wellFormed = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(?:-|$)/;
const sampled = '01';

const reads = { api: ['detail'] } as const satisfies StepReads;

/** W3C Trace Context: continues the trace of `traceparent` or starts one, and forwards it. */
export const tracingStep: Step<unknown, typeof reads> = {
  name: 'tracing',
  reads,
  build({ model }) {
    if (!model.detail.tracing) return undefined;
    return {
      request(call) {
        const [, parentTraceId, flags] = wellFormed.exec(call.headers.get(header) ?? '') ?? [];
        // `tracestate` belongs to the trace it came with.
        if (parentTraceId === undefined) call.headers.remove('tracestate');
        const traceId = parentTraceId ?? createPublicId();
        call.headers.set(header, `00-${traceId}-${createPublicId().slice(0, 16)}-${flags ?? sampled}`);
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
