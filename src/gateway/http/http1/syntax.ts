/** Byte classes of HTTP/1.1 as tables: 1 for a byte of the class. Indexed by `charCodeAt` of latin-1 text, or by bytes. */
const createByteTable = (isMember: (character: string, byte: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_none, byte) => (isMember(String.fromCharCode(byte), byte) ? 1 : 0));

/** `token` (RFC 9110, 5.6.2): field names, chunk extension names. */
export const tokenBytes: Uint8Array = createByteTable(character => /[\w!#$%&'*+.^`|~-]/.test(character));

/** `field-value` (RFC 9110, 5.5): no control bytes but the tab. */
export const fieldBytes: Uint8Array = createByteTable((_character, byte) => byte === 9 || (byte >= 32 && byte !== 127));

/** Request target: no spaces and no control bytes. What a path may hold is checked where it is made canonical. */
export const targetBytes: Uint8Array = createByteTable((_character, byte) => byte > 32 && byte < 127);

/** Value of a hexadecimal digit; 255 for other bytes. */
export const hexDigits: Uint8Array = Uint8Array.from({ length: 256 }, (_none, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? 255 : value;
});

export const tab = 9;
export const lineFeed = 10;
export const carriageReturn = 13;
export const space = 32;
export const colon = 58;

/** `Buffer.latin1Slice`, missing in Node's types: `toString` without its argument checks. */
export const sliceLatin1 = (bytes: Buffer, start: number, end: number): string =>
  (bytes as Buffer & { latin1Slice(start: number, end: number): string }).latin1Slice(start, end);
