import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import type { FileContent } from '#operations/body.ts';
import { defaultTemplates } from '../pages/templates.ts';
import { openThemeArchive } from './archive.ts';
import { toAssetType } from './files.ts';
import { defaultThemeName, type StoredTheme, type ThemeColours } from './schema.ts';
import type { ThemeStore } from './store.ts';
import { compileThemeTemplates, type RenderPage } from './templates.ts';

/** Assets of the active theme on the site, below their stamp. */
export const themeAssetsPath = '/assets/theme/';

/** Theme as the site uses it: everything that it may change of the pages. */
export interface SiteTheme {
  readonly name: string;
  /** Changes with each upload: part of the addresses of assets, so that they can be cached. */
  readonly stamp: string;
  readonly title: string | undefined;
  readonly colours: ThemeColours;
  readonly darkColours: ThemeColours;
  /** Addresses on the site. */
  readonly logo: string | undefined;
  readonly icon: string | undefined;
  readonly styles: readonly string[];
  /** Templates by name; the site shows its own page for a name without one, and where one fails. */
  readonly templates: ReadonlyMap<string, RenderPage>;
  /** A file below `assets/`; undefined for any other. */
  readAsset(path: string): FileContent | undefined;
  /** Template of a mail, by path without extension: `mailers/approve`. */
  readMail(path: string): { readonly html: string | undefined; readonly text: string | undefined };
}

export const defaultTheme: SiteTheme = {
  name: defaultThemeName,
  stamp: '0',
  title: undefined,
  colours: {},
  darkColours: {},
  logo: undefined,
  icon: undefined,
  styles: [],
  templates: new Map(),
  readAsset: () => undefined,
  readMail: () => ({ html: undefined, text: undefined }),
};

const toStamp = ({ ID, Revision, UpdatedAt }: StoredTheme) => `${ID}-${Revision}-${UpdatedAt.toString(36)}`;

/** The theme of a stored archive. */
export function openSiteTheme(stored: StoredTheme, archive: FileContent): SiteTheme {
  const theme = openThemeArchive(archive.bytes);
  const { manifest, files } = theme;
  const stamp = toStamp(stored);
  const toAddress = (path: string) => `${themeAssetsPath}${stamp}/${path.split('/').map(encodeURIComponent).join('/')}`;
  const toAssetAddress = (path: string) => toAddress(path.slice('assets/'.length));
  const readText = (path: string) => files.get(path)?.toString('utf8');
  return {
    name: manifest.name,
    stamp,
    title: manifest.title,
    colours: manifest.colours,
    darkColours: manifest.dark_colours,
    logo: manifest.logo && toAssetAddress(manifest.logo),
    icon: manifest.icon && toAssetAddress(manifest.icon),
    styles: manifest.styles.map(toAssetAddress),
    templates: compileThemeTemplates(theme, toAddress),
    readAsset(path) {
      const mediaType = toAssetType(path);
      const bytes = files.get(`assets/${path}`);
      return mediaType === undefined || !bytes ? undefined : { mediaType, bytes };
    },
    readMail: path => ({ html: readText(`${path}.html`), text: readText(`${path}.txt`) }),
  };
}

interface ReaderServices {
  portal: { readonly themes: Pick<ThemeStore, 'find' | 'findActive' | 'readArchive'> };
  log: Pick<Log, 'error'>;
}

/**
 * Reader of the active theme, or of the one with a name for its preview; each last read is kept until another upload or
 * activation. One that cannot be opened, which the checks of an upload of an earlier version allowed, is logged, and
 * the site has its own looks.
 */
export function createThemeReader(services: ReaderServices) {
  const { themes } = services.portal;
  const openActive = createThemeOpener(services);
  const openPreviewed = createThemeOpener(services);
  return async function readTheme(previewed?: string): Promise<SiteTheme> {
    if (previewed === undefined) return openActive(await themes.findActive());
    const stored = await themes.find(previewed);
    // A theme that was deleted meanwhile, and the default one, which is not stored.
    return stored || previewed === defaultThemeName ? openPreviewed(stored) : readTheme();
  };
}

/** Opens stored themes, and keeps the last one. */
function createThemeOpener({ portal, log }: ReaderServices) {
  let last: SiteTheme = defaultTheme;
  return async (stored: StoredTheme | undefined): Promise<SiteTheme> => {
    if (!stored) return defaultTheme;
    if (last.stamp === toStamp(stored)) return last;
    const archive = await portal.themes.readArchive(stored);
    if (!archive) return defaultTheme;
    try {
      last = openSiteTheme(stored, archive);
    } catch (err) {
      if (!(err instanceof Problem)) throw err;
      log.error({ err, theme: stored.Manifest.name }, 'theme unusable, showing the default one');
      last = { ...defaultTheme, stamp: toStamp(stored) };
    }
    return last;
  };
}

/** Names of the templates that pages may have: those of the product, and those of the active theme. */
export async function listPageTemplates({
  portal,
}: {
  portal: { readonly themes: Pick<ThemeStore, 'findActive'> };
}): Promise<string[]> {
  const own = (await portal.themes.findActive())?.Manifest.templates.map(({ name }) => name) ?? [];
  return [...new Set([...defaultTemplates, ...own])];
}
