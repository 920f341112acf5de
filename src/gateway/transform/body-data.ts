import { canExceedValues, findJsonExcess } from '#base/json-scan.ts';
import { decodeXml, parseXml, XmlError } from '#languages/xml.ts';

export type BodyFormat = 'json' | 'xml';
export type BodyData = Record<string, unknown>;

/** The body cannot be parsed. `isBound` tells one that exceeds a bound from one that is malformed. */
export class InvalidBody extends Error {
  readonly isLimitExceeded: boolean;

  constructor(reason: string, isLimitExceeded = false) {
    super(reason);
    this.name = 'BodyUnreadable';
    this.isLimitExceeded = isLimitExceeded;
  }
}

/** Template data of a body: an object as it is, a list as `array`; empty where there is no body. */
export function parseBodyData(bytes: Buffer, format: BodyFormat, maxValues: number): BodyData {
  if (bytes.length === 0) return {};
  if (format === 'xml') return parseXmlBody(bytes, maxValues);
  const value = parseJsonBody(bytes, maxValues);
  if (Array.isArray(value)) return { array: value };
  return typeof value === 'object' && value !== null ? (value as BodyData) : {};
}

function parseXmlBody(bytes: Buffer, maxValues: number): BodyData {
  try {
    return parseXml(decodeXml(bytes), { maxParts: maxValues });
  } catch (error) {
    if (error instanceof XmlError)
      throw new InvalidBody(`the body is not XML: ${error.message}`, error.isLimitExceeded);
    throw error;
  }
}

/** Digits beyond those a number of the language holds exactly. */
const longNumber = /\d{16}/;
/** JSON.parse with a reviver is recursive: the bound keeps it within the stack. */
const maxJsonBodyDepth = 1000;
/** BigInt takes more than linear time for its digits. */
const maxDigits = 1000;

/**
 * Parses a JSON body, its values counted before any is made. Of two members of one name the last counts: the upstream gets
 * what is written from the value, so no other reader sees the first. Whole numbers stay exact, because most are ids.
 */
export function parseJsonBody(bytes: Buffer, maxValues: number): unknown {
  const text = bytes.toString().replace(/^\ufeff/, '');
  const needsExactNumbers = longNumber.test(text);
  if (needsExactNumbers || canExceedValues(text, maxValues)) {
    const excess = findJsonExcess(text, { maxValues, maxDepth: maxJsonBodyDepth });
    if (excess === 'values') throw new InvalidBody(`the body holds more than ${maxValues} values`, true);
    if (excess === 'depth') throw new InvalidBody(`the body is nested deeper than ${maxJsonBodyDepth} levels`, true);
  }
  try {
    return needsExactNumbers ? JSON.parse(text, reviveExactly) : JSON.parse(text);
  } catch (error) {
    if (error instanceof InvalidBody) throw error;
    // The engine's reason repeats what the client sent.
    throw new InvalidBody('the body is not JSON');
  }
}

function reviveExactly(_name: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  if (source.length > maxDigits) throw new InvalidBody(`a number has more than ${maxDigits} digits`, true);
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}
