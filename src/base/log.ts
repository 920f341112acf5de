import { type LogFn, type Logger, pino, stdTimeFunctions } from 'pino';

/** Structured log on standard error. Callers log names and ids, never secrets. */
export type Log = Logger;

export interface LogOptions {
  level: string;
  format: 'json' | 'text';
  /** Output; standard error by default. */
  write?: (line: string) => void;
  /** Redacts secrets in every string of a line, fields and errors included. */
  redact?: (text: string) => string;
}

const keepText = (text: string) => text;

export function createLog(options: LogOptions): Log {
  const { level, format, write = line => process.stderr.write(line), redact = keepText } = options;
  const settings = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: redactedPaths, censor: '***' },
    serializers: { err: (error: unknown) => redactDeep(serializeError(error), redact) },
    ...(redact === keepText ? { formatters: { level: formatLevel } } : buildRedactionOptions(redact)),
  };
  const stream = { write: (line: string) => void write(format === 'text' ? formatTextLine(line) : line) };
  return pino(settings, stream);
}

type Redact = NonNullable<LogOptions['redact']>;

/** Level names in place of pino's numbers: the words of the setting `log.level`. */
const formatLevel = (level: string) => ({ level });

const buildRedactionOptions = (redact: Redact) => ({
  formatters: {
    level: formatLevel,
    log: (fields: Record<string, unknown>) => redactDeep(fields, redact) as Record<string, unknown>,
  },
  hooks: {
    logMethod(this: Log, args: Parameters<LogFn>, method: LogFn) {
      method.apply(this, args.map(it => (typeof it === 'string' ? redact(it) : it)) as Parameters<LogFn>);
    },
  },
});

/** Redacts strings at any depth; errors are left to their serializer. */
function redactDeep(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  if (Array.isArray(value)) return value.map(it => redactDeep(it, redact));
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, redactDeep(it, redact)]));
}

/** Fields that are masked one or two levels deep, as a safety net. */
const redactedPaths = ['authorization', 'cookie', 'password', 'secret', 'token', 'access_key', 'key_id'].flatMap(
  name => [name, `*.${name}`],
);

const maxCauseDepth = 3;

/**
 * Serializes type, code, message, stack and causes only: libraries attach requests, rows and settings to their errors.
 */
function serializeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack, cause, code } = error as Error & { code?: unknown };
  return {
    type: name,
    ...(code === undefined ? {} : { code }),
    message,
    stack,
    ...(cause === undefined || depth >= maxCauseDepth ? {} : { cause: serializeError(cause, depth + 1) }),
  };
}

function formatTextLine(line: string): string {
  const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const tail = Object.entries(rest).map(([name, value]) => `${name}=${formatField(value)}`);
  return `${[time, String(level).padEnd(5), escapeControls(String(msg ?? '')), ...tail].join(' ')}\n`;
}

/** Log injection: untrusted text cannot look like another field or line, nor move a terminal's cursor. */
const formatField = (value: unknown) =>
  typeof value === 'string' && /^[^\s"=\p{C}]+$/u.test(value) ? value : escapeControls(JSON.stringify(value));

const escapeControls = (text: string) =>
  text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, it => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);
