import { canExceedValues, findJsonExcess } from '#base/json-scan.ts';
import { decodeXml, parseXml, XmlError } from '#languages/xml.ts';

export type BodyFormat = 'json' | 'xml';
export type BodyData = Record<string, unknown>;

/** The body cannot be parsed. `isLimitExceeded`: it exceeds a bound, as opposed to malformed. */
export class InvalidBody extends Error {
  readonly isLimitExceeded: boolean;

  constructor(reason: string, isLimitExceeded = false) {
    super(reason);
    this.name = 'BodyUnreadable';
    this.isLimitExceeded = isLimitExceeded;
  }
}

/** Template data of a body: an object, or a list as `array`; empty without a body. */
export function parseBodyData(bytes: Buffer, format: BodyFormat, maxValues: number): BodyData {
  if (bytes.length === 0) return {};
  if (format === 'xml') return parseXmlBody(bytes, maxValues);
  const value = parseExactJsonBody(bytes, maxValues);
  if (Array.isArray(value)) return { array: value };
  return typeof value === 'object' && value !== null ? (value as BodyData) : {};
}

function parseXmlBody(bytes: Buffer, maxValues: number): BodyData {
  try {
    return parseXml(decodeXml(bytes), { maxSteps: maxValues });
  } catch (error) {
    if (error instanceof XmlError)
      throw new InvalidBody(`the body is not XML: ${error.message}`, error.isLimitExceeded);
    throw error;
  }
}

/** Digits that a JavaScript number may not hold exactly. */
const longNumber = /\d{16}/;
/** JSON.parse with a reviver recurses: bounded by the stack. */
const maxJsonBodyDepth = 1000;
/** BigInt parsing is superlinear in digits. */
const maxDigits = 1000;

/**
 * Parses a JSON body; its values are counted before any is allocated. The last duplicate member wins: the upstream gets
 * the serialized value, so no reader sees the first. Integers stay exact, because most are ids.
 */
export function parseExactJsonBody(bytes: Buffer, maxValues: number): unknown {
  const text = bytes.toString().replace(/^\ufeff/, '');
  const needsExactNumbers = longNumber.test(text);
  if (needsExactNumbers || canExceedValues(text, maxValues)) {
    const excess = findJsonExcess(text, { maxValues, maxDepth: maxJsonBodyDepth });
    if (excess === 'values') throw new InvalidBody(`the body has more than ${maxValues} values`, true);
    if (excess === 'depth') throw new InvalidBody(`the body is nested deeper than ${maxJsonBodyDepth} levels`, true);
  }
  try {
    return needsExactNumbers ? JSON.parse(text, reviveExactly) : JSON.parse(text);
  } catch (error) {
    if (error instanceof InvalidBody) throw error;
    // V8's message repeats client input.
    throw new InvalidBody('the body is not JSON');
  }
}

function reviveExactly(_name: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  if (source.length > maxDigits) throw new InvalidBody(`a number has more than ${maxDigits} digits`, true);
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}
