import { detectImageType } from '../files/image.ts';
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
  [/<\s*meta\b[^>]*http-equiv/i, 'has a meta element that replaces headers'],
  [/[\s"'/]on[a-z]+\s*=/i, 'has an event handler, which themes may not have'],
  [/javascript\s*:/i, 'has a javascript: address'],
];

const findMarkupFault: FindFault = bytes => {
  const text = decodeText(bytes);
  if (text === undefined) return 'is not UTF-8 text';
  return refusedMarkup.find(([pattern]) => pattern.test(text))?.[1];
};

const externalStyle = /@import|url\(\s*['"]?\s*([a-z][a-z0-9+.-]*:|\/\/)|expression\s*\(/i;
const findStyleFault: FindFault = bytes => {
  const text = decodeText(bytes);
  if (text === undefined) return 'is not UTF-8 text';
  return externalStyle.test(text) ? 'loads other files by @import or from another host' : undefined;
};

const checkImage =
  (mediaType: string): FindFault =>
  bytes =>
    detectImageType(bytes) === mediaType ? undefined : `is not ${mediaType} by its content`;

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
  const type = assetTypes[toExtension(path)];
  if (!type) return `has a type that themes may not have; assets are ${Object.keys(assetTypes).join(', ')}`;
  return type[1](bytes);
}
