/** Heads of images with a declared size: enough for what reads headers alone. */
type Size = readonly [width: number, height: number];

const join = (...parts: (Buffer | string)[]) =>
  Buffer.concat(parts.map(it => (typeof it === 'string' ? Buffer.from(it, 'latin1') : it)));
const toBigEndian = (value: number, bytes: 2 | 4) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};
const toLittleEndian = (value: number, bytes: 2 | 3 | 4) => toBytes(value, bytes);
function toBytes(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}

export const imageHeads = {
  'image/png': ([width, height]: Size) =>
    join('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', toBigEndian(width, 4), toBigEndian(height, 4), '\x08\x06\0\0\0'),
  'image/jpeg': ([width, height]: Size) =>
    join(
      '\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0',
      '\xff\xff\xc0\0\x11\x08',
      toBigEndian(height, 2),
      toBigEndian(width, 2),
      '\x03\x01\x22\0',
    ),
  'image/gif': ([width, height]: Size) =>
    join('GIF89a', toLittleEndian(width, 2), toLittleEndian(height, 2), '\0\0\0', '!\xf9\x04\0\0\0\0\0'),
  'image/webp': ([width, height]: Size) =>
    join('RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0', toLittleEndian(width - 1, 3), toLittleEndian(height - 1, 3)),
} as const;

/** A GIF whose first image is larger than its screen. */
export const gifWithImage = (screen: Size, [width, height]: Size): Buffer =>
  join(imageHeads['image/gif'](screen), ',\0\0\0\0', toLittleEndian(width, 2), toLittleEndian(height, 2), '\0');

/** The other two kinds of WebP. */
export const lossyWebp = ([width, height]: Size): Buffer =>
  join('RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a', toLittleEndian(width, 2), toLittleEndian(height, 2));
export const losslessWebp = ([width, height]: Size): Buffer =>
  join('RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f', toLittleEndian(((height - 1) * 2 ** 14 + width - 1) >>> 0, 4), '\0\0\0\0\0');
