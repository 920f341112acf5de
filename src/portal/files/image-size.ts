/** Width and height in pixels, as the header of an image declares them. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

type ReadSize = (bytes: Buffer) => ImageSize | undefined;

/** PNG (W3C), section 11.2.1: IHDR is the first chunk. */
const readPngSize: ReadSize = bytes =>
  bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR'
    ? undefined
    : { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };

/** Frame headers of JPEG (ITU-T T.81, table B.1): SOF0 to SOF15 without DHT, JPG and DAC. */
const isFrameMarker = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
/** Markers without a length: TEM, RST0 to RST7, SOI. */
const isBareMarker = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);

const readJpegSize: ReadSize = bytes => {
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1]!;
    // Fill bytes may precede a marker.
    if (marker === 0xff) at += 1;
    else if (isBareMarker(marker)) at += 2;
    else if (isFrameMarker(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    else if (marker === 0xda || marker === 0xd9) return undefined;
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
};

/** Bytes of a colour table of GIF, by the flags that announce it. */
const countTableBytes = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

/** GIF89a: the logical screen, and the first image, which may be larger. */
const readGifSize: ReadSize = bytes => {
  if (bytes.length < 13) return undefined;
  const screen = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  for (let at = 13 + countTableBytes(bytes[10]!); at + 10 <= bytes.length; ) {
    if (bytes[at] === 0x2c) {
      const width = Math.max(screen.width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5));
      return { width, height: Math.max(screen.height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7)) };
    }
    if (bytes[at] !== 0x21) return screen;
    at += 2;
    while (at < bytes.length && bytes[at] !== 0) at += bytes[at]! + 1;
    at += 1;
  }
  return screen;
};

/** WebP (RFC 9649): lossy, lossless and extended files. */
const readWebpSize: ReadSize = bytes => {
  if (bytes.length < 30) return undefined;
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (kind === 'VP8 ') return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  if (kind !== 'VP8L' || bytes[20] !== 0x2f) return undefined;
  const bits = bytes.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
};

const readers: Readonly<Record<string, ReadSize>> = {
  'image/png': readPngSize,
  'image/jpeg': readJpegSize,
  'image/gif': readGifSize,
  'image/webp': readWebpSize,
};

/** Size of an image of a known type; undefined where its header is broken. */
export const readImageSize = (bytes: Buffer, mediaType: string): ImageSize | undefined => readers[mediaType]?.(bytes);
