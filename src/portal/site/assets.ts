import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SiteFile } from './page.ts';

/** Style sheet and script, read once; their addresses contain a hash of their content. */
interface Asset {
  readonly url: string;
  readonly file: SiteFile;
}

export const assetFolder = '/site';
const styleFile = new URL('./site.css', import.meta.url);

export interface SiteAssets {
  readonly styleUrl: string;
  readonly scriptUrl: string;
  /** Sheet of the portal's accent colour. */
  readonly themeUrl: string;
  readonly iconUrl: string;
  find(path: string): SiteFile | undefined;
}

export function loadSiteAssets(accentColor: string): SiteAssets {
  const style = toAsset('site', 'css', readFileSync(styleFile));
  const script = toAsset('site', 'js', readFileSync(new URL('./site.js', import.meta.url)));
  const theme = toAsset('theme', 'css', Buffer.from(formatAccent(accentColor, accentColor)));
  const icon = toAsset('icon', 'svg', Buffer.from(iconSource));
  const byUrl = new Map([style, script, theme, icon].map(({ url, file }) => [url, file]));
  return {
    styleUrl: style.url,
    scriptUrl: script.url,
    themeUrl: theme.url,
    iconUrl: icon.url,
    find: path => byUrl.get(path),
  };
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

function toAsset(name: string, extension: string, bytes: Buffer): Asset {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  return {
    url: `${assetFolder}/${name}-${hash}.${extension}`,
    file: { file: bytes, type: types[extension]!, isImmutable: true },
  };
}

/** Variables of the style sheet that have a value for each colour scheme. */
export const readTokens = (): ReadonlyMap<string, readonly [light: string, dark: string]> => {
  tokens ??= new Map(
    [
      ...readFileSync(styleFile, 'utf8').matchAll(
        /^ {2}(--[\w-]+): light-dark\((oklch\([^)]*\)), (oklch\([^)]*\))\);$/gm,
      ),
    ].map(([, name, light, dark]) => [name!, [light!, dark!]] as const),
  );
  return tokens;
};
let tokens: ReadonlyMap<string, readonly [light: string, dark: string]> | undefined;

/**
 * Accent of the portal: hue and chroma of the colour, with the lightness of the default accent, so that text on it and
 * text in it keep their contrast whatever colour is chosen. Empty colours leave the default one.
 */
export function formatAccent(light: string, dark: string): string {
  const toRule = (name: string, inLight: string, inDark: string) => {
    const [ownLight, ownDark] = readTokens().get(name)!;
    const first = light === '' ? ownLight : `oklch(from ${light} ${inLight} h)`;
    return `${name}:light-dark(${first},${dark === '' ? ownDark : `oklch(from ${dark} ${inDark} h)`})`;
  };
  const rules = [
    toRule('--accent', '52% c', '55% c'),
    toRule('--accent-ink', '45% c', '82% min(c,.1)'),
    toRule('--accent-soft', '95.5% min(c,.02)', '29% min(c,.06)'),
    toRule('--ring', '55% c', '72% c'),
  ];
  return light === '' && dark === '' ? '' : `:root{${rules.join(';')}}\n`;
}

const iconSource =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4f56d8"/>' +
  '<path d="M10 12l-4 4 4 4M22 12l4 4-4 4M18 9l-4 14" fill="none" stroke="#fff" stroke-width="2.5"/></svg>';
