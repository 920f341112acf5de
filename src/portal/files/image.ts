import { readImageSize } from './image-size.ts';

const ascii = (bytes: Buffer, from: number, to: number) => bytes.toString('latin1', from, to);

/** Signatures of raster images. SVG is none of them: it can hold scripts. */
const signatures: readonly [mediaType: string, matches: (bytes: Buffer) => boolean][] = [
  ['image/png', bytes => ascii(bytes, 0, 8) === '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', bytes => ascii(bytes, 0, 3) === '\xff\xd8\xff'],
  ['image/gif', bytes => /^GIF8[79]a$/.test(ascii(bytes, 0, 6))],
  ['image/webp', bytes => ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP'],
];

export const imageTypes: readonly string[] = signatures.map(([mediaType]) => mediaType);

/** Media type of an image by its content; undefined for anything else. */
export const detectImageType = (bytes: Buffer): string | undefined =>
  signatures.find(([, matches]) => matches(bytes))?.[0];

/** Pixels of a side. A small file can declare many more, which browsers hold in memory once they are decoded. */
export const maxImageSide = 4096;

/** Why an image is refused; undefined for one that is not. */
export function findImageFault(bytes: Buffer, mediaType: string): { readonly size?: string } | undefined {
  const size = readImageSize(bytes, mediaType);
  if (!size || size.width === 0 || size.height === 0) return {};
  const { width, height } = size;
  return Math.max(width, height) > maxImageSide ? { size: `${width} × ${height}` } : undefined;
}
