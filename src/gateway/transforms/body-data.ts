import { TemplateFault } from '#base/templates/fault.ts';
import { parseXml, xmlSource } from '#base/xml.ts';

export type BodyFormat = 'json' | 'xml';
export type BodyData = Record<string, unknown>;

/** What a template sees of a body: an object as it is, a list as `array`; nothing where there is no body. */
export function bodyData(bytes: Buffer, format: BodyFormat): BodyData {
  if (bytes.length === 0) return {};
  if (format === 'xml') return parseXml(xmlSource(bytes));
  const value = jsonOf(bytes.toString().replace(/^\ufeff/, ''));
  if (Array.isArray(value)) return { array: value };
  return typeof value === 'object' && value !== null ? (value as BodyData) : {};
}

/** Digits beyond those a number of the language holds exactly. */
const longNumber = /\d{16}/;

/**
 * Of two members of one name the last counts: what is sent on is written anew, so that nobody reads the other. Whole
 * numbers stay exact, however long, since they are mostly ids.
 */
function jsonOf(text: string): unknown {
  try {
    return longNumber.test(text) ? JSON.parse(text, exact) : JSON.parse(text);
  } catch {
    // The reason would repeat what the caller sent.
    throw new TemplateFault('the body is not JSON');
  }
}

function exact(_name: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}
