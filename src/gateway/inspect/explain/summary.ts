/** One step in the summary. */
interface StepSummary {
  readonly step: string;
  readonly message: string;
  readonly ms?: number;
  readonly code?: number;
  readonly refusal?: string;
  /** Id of the API of this step and of those after it, where it differs from that of the step before. */
  readonly api?: string;
}

/** Bound of the response header: some proxies accept no longer one. */
const maxHeaderCharacters = 4000;
const maxMessageCharacters = 240;

/** Summarizes the step lines of a trace as ASCII JSON that fits into a header. `traceId`: W3C trace id, or empty. */
export function summarizeTrace(id: string, lines: string, traceId = ''): string {
  const identity = traceId === '' ? { id } : { id, trace_id: traceId };
  let current = '';
  const steps = lines.split('\n').flatMap(line => {
    const { mw, msg, took_ms, code, refusal, api_id } = line === '' ? {} : JSON.parse(line);
    if (mw === undefined) return [];
    const isOther = api_id !== current;
    current = api_id;
    const summary: StepSummary = {
      step: mw,
      message: String(msg).slice(0, maxMessageCharacters),
      ...(took_ms === undefined ? {} : { ms: took_ms }),
      ...(code === undefined ? {} : { code }),
      ...(refusal === undefined ? {} : { refusal }),
      ...(isOther ? { api: api_id } : {}),
    };
    return [summary];
  });
  for (let count = steps.length; count >= 0; count--) {
    const left = steps.length - count;
    const text = toAscii(JSON.stringify({ ...identity, steps: steps.slice(0, count), ...(left > 0 ? { left } : {}) }));
    if (text.length <= maxHeaderCharacters) return text;
  }
  return toAscii(JSON.stringify(identity));
}

const toAscii = (text: string) =>
  text.replaceAll(/[^\x20-\x7e]/g, it => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);
