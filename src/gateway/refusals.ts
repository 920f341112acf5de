import { Answer } from './answer.ts';
import { bodyOf } from './body.ts';
import type { Exchange } from './exchange.ts';
import { HeaderList } from './headers.ts';
import { type Refusal, refusalsTable } from './refusals-table.ts';

export type RefusalCode = keyof typeof refusalsTable;
export const refusals: Readonly<Record<RefusalCode, Refusal>> = refusalsTable;

export function refuse(call: Exchange, code: RefusalCode, detail?: Readonly<Record<string, string | number>>): Answer {
  const { status, message } = refusals[code];
  const text = detail ? message.replace(/\{(\w+)\}/g, (_whole, name: string) => String(detail[name])) : message;
  call.refusal = code;
  return refusalAnswer(call, status, text);
}

/** The answer itself, for refusals whose status or words come from a definition. */
export function refusalAnswer(call: Exchange, status: number, message: string): Answer {
  const [type, body] = rendered(call, message);
  const given = new Answer(status, new HeaderList(['Content-Type', type]), bodyOf(Buffer.from(body)), true);
  given.message = message;
  return given;
}

const xmlTypes = new Set(['application/xml', 'text/xml', 'application/soap+xml']);
const xmlEscapes: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  "'": '&#39;',
  '"': '&#34;',
};

/** In the caller's own notation: XML for those who sent XML, JSON for everybody else. */
function rendered(call: Exchange, message: string): [type: string, body: string] {
  const given = call.headers.get('content-type');
  const type = (given ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (xmlTypes.has(type)) {
    const escaped = message.replaceAll(/[<>&'"]/g, character => xmlEscapes[character]!);
    return [given!, `<?xml version="1.0" encoding="UTF-8"?>\n<error>${escaped}</error>`];
  }
  return ['application/json', `{\n    "error": ${JSON.stringify(message)}\n}`];
}
