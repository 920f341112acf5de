import { detectImageType, findImageFault, maxImageSide } from '../files/image.ts';
import { findSvgFault } from './svg.ts';

/** Checks of the files of a theme by their place and content. A fault completes "file: assets/x.js …". */
type FindFault = (bytes: Buffer) => string | undefined;

const decodeText = (bytes: Buffer): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

const findTextFault: FindFault = bytes => (decodeText(bytes) === undefined ? 'is not UTF-8 text' : undefined);

/** The content security policy of the site blocks scripts of themes; they are refused here with a reason. */
const refusedMarkup: readonly (readonly [RegExp, string])[] = [
  [/<\s*script\b/i, 'has a script, which themes may not have'],
  [/<\s*(iframe|object|embed|base|frame)\b/i, 'has an element that loads other documents'],
  [/<\s*meta\b[^<>]{0,1000}http-equiv/i, 'has a meta element that replaces headers'],
  [/[\s"'/]on[a-z]+\s*=/i, 'has an event handler, which themes may not have'],
  [/javascript\s*:/i, 'has a javascript: address'],
  [/<\s{0,100}\/?\s{0,100}[a-z]{0,100}\{\{/i, 'has an element whose name a template makes'],
];

/** Browsers read character references in attributes, such as those of an address. */
const decodeReferences = (text: string) =>
  text.replaceAll(/&#(?:x([\da-f]{1,6})|(\d{1,7}));?/gi, (whole, hex, decimal) => {
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });

const findMarkupFault: FindFault = bytes => {
  const text = decodeText(bytes);
  if (text === undefined) return 'is not UTF-8 text';
  const plain = decodeReferences(text);
  return refusedMarkup.find(([pattern]) => pattern.test(plain))?.[1];
};

/** Escapes would hide the names; `image-set` takes addresses as texts. */
const externalStyle = /@import|url\(\s*['"]?\s*([a-z][a-z0-9+.-]*:|\/\/)|expression\s*\(|image-set\s*\(|\\/i;
const findStyleFault: FindFault = bytes => {
  const text = decodeText(bytes);
  if (text === undefined) return 'is not UTF-8 text';
  return externalStyle.test(text)
    ? 'loads other files by @import, image-set or from another host, or has escapes'
    : undefined;
};

const checkImage =
  (mediaType: string): FindFault =>
  bytes => {
    const fault = findImageFault(bytes, mediaType);
    if (detectImageType(bytes) !== mediaType || (fault && !fault.size)) return `is not ${mediaType} by its content`;
    return fault?.size && `has ${fault.size} pixels: at most ${maxImageSide} on a side`;
  };

const checkSignature =
  (signature: string): FindFault =>
  bytes =>
    bytes.toString('latin1', 0, signature.length) === signature ? undefined : 'has the content of another type';

/** Files below `assets/`, which the site serves: media type and check by extension. */
const assetTypes: Readonly<Record<string, readonly [mediaType: string, findFault: FindFault]>> = {
  css: ['text/css; charset=utf-8', findStyleFault],
  png: ['image/png', checkImage('image/png')],
  jpg: ['image/jpeg', checkImage('image/jpeg')],
  jpeg: ['image/jpeg', checkImage('image/jpeg')],
  gif: ['image/gif', checkImage('image/gif')],
  webp: ['image/webp', checkImage('image/webp')],
  svg: ['image/svg+xml', findSvgFault],
  ico: ['image/x-icon', checkSignature('\0\0\x01\0')],
  woff: ['font/woff', checkSignature('wOFF')],
  woff2: ['font/woff2', checkSignature('wOF2')],
};

const toExtension = (path: string) => /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';

/** Media type of a file below `assets/`; undefined for other files. */
export const toAssetType = (path: string): string | undefined => assetTypes[toExtension(path)]?.[0];

const templateFolders = /^(layouts|views|partials)\/[\w-]+\.html$/;
const mailFolders = /^(mailers|auth)\/[\w-]+\.(html|txt)$/;
const documentation = /^(README|LICENSE)(\.md|\.txt)?$/i;

/** Why a file is refused; undefined for one that a theme may have. */
export function findFileFault(path: string, bytes: Buffer): string | undefined {
  if (documentation.test(path)) return findTextFault(bytes);
  if (templateFolders.test(path)) return findMarkupFault(bytes);
  if (mailFolders.test(path)) return findMarkupFault(bytes);
  if (!path.startsWith('assets/'))
    return 'has no place in a theme: use assets/, layouts/, views/, partials/, mailers/ and auth/';
  const extension = toExtension(path);
  const type = Object.hasOwn(assetTypes, extension) ? assetTypes[extension] : undefined;
  if (!type) return `has a type that themes may not have; assets are ${Object.keys(assetTypes).join(', ')}`;
  return type[1](bytes);
}
