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
