import { TemplateFault } from '#base/templates/fault.ts';
import { parseXml, xmlSource } from '#base/xml.ts';

export type BodyFormat = 'json' | 'xml';
export type BodyData = Record<string, unknown>;

/** What a template sees of a body: an object as it is, a list as `array`; nothing where there is no body. */
export function bodyData(bytes: Buffer, format: BodyFormat): BodyData {
  if (bytes.length === 0) return {};
  if (format === 'xml') return parseXml(xmlSource(bytes));
  const value = jsonOf(bytes);
  if (Array.isArray(value)) return { array: value };
  return typeof value === 'object' && value !== null ? (value as BodyData) : {};
}

/** Digits beyond those a number of the language holds exactly. */
const longNumber = /\d{16}/;

/**
 * Of two members of one name the last counts: what is sent on is written anew, so that nobody reads the other. Whole
 * numbers stay exact, however long, since they are mostly ids.
 */
export function jsonOf(bytes: Buffer): unknown {
  const text = bytes.toString().replace(/^\ufeff/, '');
  try {
    return longNumber.test(text) ? JSON.parse(text, exactly()) : JSON.parse(text);
  } catch (error) {
    if (error instanceof TemplateFault) throw error;
    // The reason would repeat what the caller sent.
    throw new TemplateFault('the body is not JSON');
  }
}

/** Each value that is looked at takes time, and a number takes more than its length in it. */
const mostValues = 200_000;
const mostDigits = 1000;

function exactly() {
  let left = mostValues;
  return (_name: string, value: unknown, { source }: { source?: string } = {}): unknown => {
    if (--left < 0) throw new TemplateFault(`more than ${mostValues} values`, 0, true);
    if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
    if (source.length > mostDigits) throw new TemplateFault(`a number of more than ${mostDigits} digits`, 0, true);
    return /^-?\d+$/.test(source) ? BigInt(source) : value;
  };
}
