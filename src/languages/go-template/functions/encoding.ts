import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { TemplateFault } from '../error.ts';
import { jsonText } from '../json-text.ts';
import { type Fn, type FunctionTable, fixed, text } from './fn.ts';

const html = { indent: '', forHtml: true };
const raw = { indent: '', forHtml: false };
const pretty = { indent: '  ', forHtml: true };
const json = (style: typeof html): Fn => fixed(1, ([value], budget) => jsonText(value, style, budget));

const longestJson = 1024 * 1024;

/** Longer numbers take more than linear time to read. */
const maxDigits = 1000;

/** Whole numbers beyond 2⁵³ stay exact. */
function reviveExactly(name: string, value: unknown, { source }: { source?: string } = {}): unknown {
  if (name === '__proto__') throw new TemplateFault('a member may not be called __proto__');
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return source.length <= maxDigits && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

function parsed(value: unknown): unknown {
  const source = text(value);
  if (source.length > longestJson) throw new TemplateFault(`JSON longer than ${longestJson} characters`, 0, true);
  try {
    return JSON.parse(source, reviveExactly);
  } catch {
    throw new TemplateFault('it is not JSON');
  }
}

const lenient =
  (fn: Fn): Fn =>
  (args, budget) => {
    try {
      return fn(args, budget);
    } catch (error) {
      if (error instanceof TemplateFault && !error.isBound) return undefined;
      throw error;
    }
  };

const fromJson = fixed(1, ([value], budget) => {
  const plain = text(value);
  // Reading costs more than looking: what is read is a value for each few characters.
  budget.spend(plain.length >> 5);
  return parsed(plain);
});

const digest = (algorithm: string): Fn =>
  fixed(1, ([value]) => createHash(algorithm).update(text(value)).digest('hex'));

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
  if (coded.length % 8 !== 0 || ![0, 1, 3, 4, 6].includes(filled)) throw new TemplateFault('it is not base32');
  for (const letter of coded.slice(0, end)) {
    const value = base32.indexOf(letter);
    if (value < 0) throw new TemplateFault('it is not base32');
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((held >> bits) & 255);
    }
  }
  return Buffer.from(bytes).toString();
}

/** Line breaks are skipped; whole groups of four, filled up with `=`. */
function fromBase64(coded: string): string {
  const plain = coded.replaceAll(/[\r\n]/g, '');
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(plain)) throw new TemplateFault('it is not base64');
  return Buffer.from(plain, 'base64').toString();
}

/** Byte by byte, in our own hands. */
const worked = (body: (plain: string) => string): Fn =>
  fixed(1, ([value], budget) => {
    budget.work(text(value).length);
    return body(text(value));
  });

const blockBytes = 16;
/** The key is the password itself, filled up with zeros. */
const keyOf = (password: string) => Buffer.concat([Buffer.from(password), Buffer.alloc(32)]).subarray(0, 32);

function encrypted(password: string, plain: string): string {
  const start = randomBytes(blockBytes);
  const cipher = createCipheriv('aes-256-cbc', keyOf(password), start);
  return Buffer.concat([start, cipher.update(plain, 'utf8'), cipher.final()]).toString('base64');
}

function decrypted(password: string, coded: string): string {
  const bytes = Buffer.from(coded, 'base64');
  try {
    const cipher = createDecipheriv('aes-256-cbc', keyOf(password), bytes.subarray(0, blockBytes));
    return Buffer.concat([cipher.update(bytes.subarray(blockBytes)), cipher.final()]).toString();
  } catch {
    throw new TemplateFault('it cannot be decrypted');
  }
}

export const encoding: FunctionTable = {
  jsonMarshal: json(html),
  toJson: json(html),
  mustToJson: json(html),
  toRawJson: json(raw),
  mustToRawJson: json(raw),
  toPrettyJson: json(pretty),
  mustToPrettyJson: json(pretty),
  fromJson: lenient(fromJson),
  mustFromJson: fromJson,
  b64enc: fixed(1, ([value]) => Buffer.from(text(value)).toString('base64')),
  b64dec: fixed(1, ([value]) => fromBase64(text(value))),
  b32enc: worked(toBase32),
  b32dec: worked(fromBase32),
  sha1sum: digest('sha1'),
  sha256sum: digest('sha256'),
  sha512sum: digest('sha512'),
  adler32sum: worked(adler32),
  encryptAES: fixed(2, ([password, value]) => encrypted(text(password), text(value))),
  decryptAES: fixed(2, ([password, value]) => decrypted(text(password), text(value))),
};
