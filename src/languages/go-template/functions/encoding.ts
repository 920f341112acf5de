import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { TemplateError } from '../error.ts';
import { marshalJson } from '../json-text.ts';
import { type FunctionTable, requireText, type TemplateFunction, withArity } from './fn.ts';

const html = { indent: '', forHtml: true };
const raw = { indent: '', forHtml: false };
const pretty = { indent: '  ', forHtml: true };
const createMarshal = (style: typeof html): TemplateFunction =>
  withArity(1, ([value], budget) => marshalJson(value, style, budget));

const maxJsonCharacters = 1024 * 1024;

/** Longer numbers take more than linear time to parse. */
const maxDigits = 1000;

/** JSON reviver that keeps integers beyond 2⁵³ exact, as bigint. */
function reviveExactly(name: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (name === '__proto__') throw new TemplateError('a member may not be called __proto__');
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return source.length <= maxDigits && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

function parseJsonExactly(value: unknown): unknown {
  const source = requireText(value);
  if (source.length > maxJsonCharacters)
    throw new TemplateError(`JSON longer than ${maxJsonCharacters} characters`, 0, true);
  try {
    return JSON.parse(source, reviveExactly);
  } catch {
    throw new TemplateError('it is not JSON');
  }
}

const ignoreErrors =
  (fn: TemplateFunction): TemplateFunction =>
  (args, budget) => {
    try {
      return fn(args, budget);
    } catch (error) {
      if (error instanceof TemplateError && !error.isLimitExceeded) return undefined;
      throw error;
    }
  };

const fromJson = withArity(1, ([value], budget) => {
  const plain = requireText(value);
  // Parsing creates a value for every few characters.
  budget.spend(plain.length >> 5);
  return parseJsonExactly(plain);
});

const createDigest = (algorithm: string): TemplateFunction =>
  withArity(1, ([value]) => createHash(algorithm).update(requireText(value)).digest('hex'));

function adler32(plain: string): string {
  let [low, high] = [1, 0];
  for (const byte of Buffer.from(plain)) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  return String(high * 65536 + low);
}

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function toBase32(plain: string): string {
  let out = '';
  let [bits, held] = [0, 0];
  for (const byte of Buffer.from(plain)) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) out += base32[(held >> (bits - 5)) & 31];
    held &= 255;
  }
  if (bits > 0) out += base32[(held << (5 - bits)) & 31];
  return out.padEnd(Math.ceil(out.length / 8) * 8, '=');
}

function fromBase32(coded: string): string {
  const bytes: number[] = [];
  let [bits, held] = [0, 0];
  let end = coded.length;
  while (end > 0 && coded[end - 1] === '=') end--;
  const filled = coded.length - end;
  if (coded.length % 8 !== 0 || ![0, 1, 3, 4, 6].includes(filled)) throw new TemplateError('it is not base32');
  for (const letter of coded.slice(0, end)) {
    const value = base32.indexOf(letter);
    if (value < 0) throw new TemplateError('it is not base32');
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >> bits) & 255);
    }
  }
  return Buffer.from(bytes).toString();
}

/** Decodes padded base64; line breaks are skipped. */
function fromBase64(coded: string): string {
  const plain = coded.replaceAll(/[\r\n]/g, '');
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(plain)) throw new TemplateError('it is not base64');
  return Buffer.from(plain, 'base64').toString();
}

/** A function implemented byte by byte here, charged accordingly. */
const chargeByByte = (body: (plain: string) => string): TemplateFunction =>
  withArity(1, ([value], budget) => {
    budget.chargeScan(requireText(value).length);
    return body(requireText(value));
  });

const blockBytes = 16;
/** AES key: the password, padded with zeros. */
const toKey = (password: string) => Buffer.concat([Buffer.from(password), Buffer.alloc(32)]).subarray(0, 32);

function encryptAes(password: string, plain: string): string {
  const start = randomBytes(blockBytes);
  const cipher = createCipheriv('aes-256-cbc', toKey(password), start);
  return Buffer.concat([start, cipher.update(plain, 'utf8'), cipher.final()]).toString('base64');
}

function decryptAes(password: string, coded: string): string {
  const bytes = Buffer.from(coded, 'base64');
  try {
    const cipher = createDecipheriv('aes-256-cbc', toKey(password), bytes.subarray(0, blockBytes));
    return Buffer.concat([cipher.update(bytes.subarray(blockBytes)), cipher.final()]).toString();
  } catch {
    throw new TemplateError('it cannot be decrypted');
  }
}

export const encodingFunctions: FunctionTable = {
  jsonMarshal: createMarshal(html),
  toJson: createMarshal(html),
  mustToJson: createMarshal(html),
  toRawJson: createMarshal(raw),
  mustToRawJson: createMarshal(raw),
  toPrettyJson: createMarshal(pretty),
  mustToPrettyJson: createMarshal(pretty),
  fromJson: ignoreErrors(fromJson),
  mustFromJson: fromJson,
  b64enc: withArity(1, ([value]) => Buffer.from(requireText(value)).toString('base64')),
  b64dec: withArity(1, ([value]) => fromBase64(requireText(value))),
  b32enc: chargeByByte(toBase32),
  b32dec: chargeByByte(fromBase32),
  sha1sum: createDigest('sha1'),
  sha256sum: createDigest('sha256'),
  sha512sum: createDigest('sha512'),
  adler32sum: chargeByByte(adler32),
  encryptAES: withArity(2, ([password, value]) => encryptAes(requireText(password), requireText(value))),
  decryptAES: withArity(2, ([password, value]) => decryptAes(requireText(password), requireText(value))),
};
