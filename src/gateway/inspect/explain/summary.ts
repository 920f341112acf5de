/** A step of a call, as short as it can be said. */
interface Said {
  readonly step: string;
  readonly said: string;
  readonly ms?: number;
  readonly code?: number;
  readonly refusal?: string;
}

/** Of the header that carries it: some proxies take no more than this in one. */
const headerMost = 4000;
const saidMost = 120;

/** The lines of a trace that steps wrote, as JSON in ASCII that fits into a header. */
export function summaryOf(id: string, lines: string): string {
  const steps = lines.split('\n').flatMap(line => {
    const { mw, msg, took_ms, code, refusal } = line === '' ? {} : JSON.parse(line);
    if (mw === undefined) return [];
    const said: Said = {
      step: mw,
      said: String(msg).slice(0, saidMost),
      ...(took_ms === undefined ? {} : { ms: took_ms }),
      ...(code === undefined ? {} : { code }),
      ...(refusal === undefined ? {} : { refusal }),
    };
    return [said];
  });
  for (let count = steps.length; count >= 0; count--) {
    const left = steps.length - count;
    const text = ascii(JSON.stringify({ id, steps: steps.slice(0, count), ...(left > 0 ? { left } : {}) }));
    if (text.length <= headerMost) return text;
  }
  return ascii(JSON.stringify({ id }));
}

const ascii = (text: string) =>
  text.replaceAll(/[^\x20-\x7e]/g, it => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);
