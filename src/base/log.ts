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
  };
  const stream = { write: (line: string) => void write(format === 'text' ? readable(line) : line) };
  return pino(settings, stream);
}

/** A last net under the rule above: these members are masked wherever they appear one or two levels deep. */
const redacted = ['authorization', 'cookie', 'password', 'secret', 'token', 'access_key', 'key_id'].flatMap(name => [
  name,
  `*.${name}`,
]);

const levels: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' };

function readable(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const tail = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${[time, (levels[Number(level)] ?? '').padEnd(5), msg, ...tail].join(' ')}\n`;
}
