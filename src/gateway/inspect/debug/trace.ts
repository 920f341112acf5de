import type { Clock } from '#base/clock.ts';
import { createLog, type Log } from '#base/log.ts';

/** One line of a trace. */
export interface TraceLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly msg: string;
  readonly type: 'request' | 'response';
  /** The step. */
  readonly mw?: string;
  /** HTTP status. */
  readonly code?: number;
  /** A code of docs/reference/refusals.md. */
  readonly refusal?: string;
  /** Explanation of the refusal code. */
  readonly about?: string;
  readonly took_ms?: number;
  readonly key_hash?: string;
  readonly [more: string]: unknown;
}

export interface TracedApiIdentity {
  readonly id: string;
  readonly name: string;
  readonly orgId: string;
}

/** Trace of one exchange. */
export interface Trace {
  note(line: TraceLine, of?: TracedApiIdentity): void;
  /** Current wait of the exchange, reported on a timeout. */
  waitingFor: string;
  /** Request or response phase. */
  phase: TraceLine['type'];
  /** One JSON object in each line. */
  text(): string;
}

/** Bounds of a trace: above any chain's length, reached only by loops. */
const maxLines = 500;
const maxLineCharacters = 4096;

/** `redact` replaces secrets in each line: messages contain the values steps work with. */
export function createTrace(clock: Clock, own: TracedApiIdentity, redact = (text: string) => text): Trace {
  const lines: string[] = [];
  return {
    waitingFor: 'the definition',
    phase: 'request',
    note(line, { id, name, orgId } = own) {
      if (lines.length >= maxLines) return;
      const whole = { ...line, time: new Date(clock.now()).toISOString(), api_id: id, api_name: name, org_id: orgId };
      const text = redact(JSON.stringify(whole));
      const { level, msg, type, time } = whole;
      const shown = `${redact(msg).slice(0, maxLineCharacters / 8)}…`;
      lines.push(text.length <= maxLineCharacters ? text : JSON.stringify({ level, msg: shown, type, time }));
    },
    text: () => lines.join('\n'),
  };
}

export const measureMs = (since: number): number => Math.round((performance.now() - since) * 1000) / 1000;

const levels: readonly TraceLine['level'][] = ['debug', 'info', 'warn', 'error'];

/** Log that writes into the trace; errors also go to the real log. */
export function createTraceLog(trace: Trace, real: Log): Log {
  return createLog({
    level: 'debug',
    format: 'json',
    write(text) {
      const { level, time: _time, msg, api: _api, code, err, ...more } = JSON.parse(text);
      const known = levels.find(it => it === level) ?? 'error';
      if (known === 'error') real.error({ ...more, code, failure: err }, `debug run: ${msg}`);
      const refusal = typeof code === 'string' ? { refusal: code } : {};
      const reason = err ? { reason: String(err.message ?? err) } : {};
      trace.note({ ...more, ...refusal, ...reason, level: known, msg, type: trace.phase });
    },
  });
}
