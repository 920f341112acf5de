import { type Logger, pino, stdTimeFunctions } from 'pino';

/** One line per thing that happened, on standard error. Secrets never come here: callers log names and ids only. */
export type Log = Logger;

export interface LogOptions {
  level: string;
  format: 'json' | 'text';
  /** Where lines go; standard error unless said. */
  write?: (line: string) => void;
}

export function createLog({ level, format, write = line => process.stderr.write(line) }: LogOptions): Log {
  const settings = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: redacted, censor: '***' },
    serializers: { err: (error: unknown) => described(error) },
  };
  const stream = { write: (line: string) => void write(format === 'text' ? readable(line) : line) };
  return pino(settings, stream);
}

/** A last net under the rule above: these members are masked wherever they appear one or two levels deep. */
const redacted = ['authorization', 'cookie', 'password', 'secret', 'token', 'access_key', 'key_id'].flatMap(name => [
  name,
  `*.${name}`,
]);

const deepestCause = 3;

/** Libraries hang requests, rows and settings on their errors; only what explains the failure is written. */
function described(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack, cause, code } = error as Error & { code?: unknown };
  return {
    type: name,
    ...(code === undefined ? {} : { code }),
    message,
    stack,
    ...(cause === undefined || depth >= deepestCause ? {} : { cause: described(cause, depth + 1) }),
  };
}

const levels: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

function readable(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const tail = Object.entries(rest).map(([name, value]) => `${name}=${oneWord(value)}`);
  return `${[time, (levels[Number(level)] ?? '').padEnd(5), oneLine(String(msg ?? '')), ...tail].join(' ')}\n`;
}

/** Text from outside must not be able to look like another member or another line, nor move a terminal's cursor. */
const oneWord = (value: unknown) =>
  typeof value === 'string' && /^[^\s"=\p{C}]+$/u.test(value) ? value : oneLine(JSON.stringify(value));

const oneLine = (text: string) =>
  text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, it => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);
