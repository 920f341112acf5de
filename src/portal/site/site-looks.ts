import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import { TemplateError } from '#languages/go-template/error.ts';
import { createThemeReader, defaultTheme, type SiteTheme, themeAssetsPath } from '../themes/active-theme.ts';
import type { ThemeColours } from '../themes/schema.ts';
import { assetFolder, formatAccent, readTokens } from './assets.ts';
import { trustMarkup } from './markup.ts';
import type { SiteMenus } from './menus.ts';
import type {
  PageTemplate,
  SiteDocument,
  SiteFile,
  SiteLink,
  SiteMenuItem,
  SiteServices,
  SiteVisitor,
} from './page.ts';

/** Looks of every page, by the active theme. */
export interface SiteLooks {
  readonly name: string;
  readonly iconUrl: string | undefined;
  readonly logoUrl: string | undefined;
  /** Sheets behind that of the site: colours of the theme, then its styles. */
  readonly styleUrls: readonly string[];
  readonly templates: SiteTheme['templates'];
  readonly themeName: string;
  /** The theme is not the active one: an administrator previews it. */
  readonly isPreview: boolean;
}

/** Variables of the style sheet by colour of a theme. */
const variables: Readonly<Record<Exclude<keyof ThemeColours, 'accent'>, string>> = {
  background: '--page',
  surface: '--surface',
  text: '--ink',
  muted: '--dim',
  link: '--accent-ink',
  border: '--line',
};

const toColoursUrl = ({ stamp }: SiteTheme) => `${assetFolder}/colours-${stamp}.css`;
const hasColours = ({ colours, darkColours }: SiteTheme) =>
  [...Object.values(colours), ...Object.values(darkColours)].some(colour => colour !== undefined);

/** A theme with colours for one scheme leaves the other as it is, but for the accent, which both share. */
function formatColours({ colours, darkColours }: SiteTheme, settingAccent: string): string {
  const light = colours.accent ?? settingAccent;
  const accent = formatAccent(light, darkColours.accent ?? light);
  const rules = Object.entries(variables).flatMap(([key, variable]) => {
    const [chosen, dark] = [colours[key as keyof ThemeColours], darkColours[key as keyof ThemeColours]];
    const [ownLight, ownDark] = readTokens().get(variable)!;
    return chosen || dark ? [`${variable}:light-dark(${chosen ?? ownLight},${dark ?? ownDark})`] : [];
  });
  return `${accent}:root{${rules.join(';')}}\n`;
}

/** Assets of themes are drawings and styles: opened as a document, one can neither run nor load anything. */
const assetPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Looks of the site by its active theme. */
export function createSiteLooks(services: SiteServices) {
  const { settings } = services;
  const readTheme = createThemeReader(services);
  const toLooks = (theme: SiteTheme, isPreview = false): SiteLooks => ({
    name: theme.title || settings['portal.name'],
    iconUrl: theme.icon,
    logoUrl: theme.logo,
    styleUrls: [...(hasColours(theme) ? [toColoursUrl(theme)] : []), ...theme.styles],
    templates: theme.templates,
    themeName: theme.name,
    isPreview,
  });

  return {
    async read({ previewedTheme }: Pick<SiteVisitor, 'previewedTheme'>): Promise<SiteLooks> {
      return toLooks(await readTheme(previewedTheme), previewedTheme !== undefined);
    },
    /** Without the database: for the page of a failure. */
    ofDefaultTheme: toLooks(defaultTheme),

    isAsset: isThemeAsset,

    /** A file of the active theme. Its address has the stamp of an upload: that of another one is not stored by caches. */
    findAsset: async (path: string): Promise<SiteFile | undefined> => findThemeAsset(path, await readTheme(), settings),

    /** A file of the theme that an administrator previews: no cache stores it. */
    async findPreviewedAsset(path: string, { previewedTheme }: SiteVisitor): Promise<SiteFile | undefined> {
      if (previewedTheme === undefined) return undefined;
      const found = findThemeAsset(path, await readTheme(previewedTheme), settings);
      return found && { ...found, isImmutable: false };
    },
  };
}

const coloursPrefix = `${assetFolder}/colours-`;
const isThemeAsset = (path: string) => path.startsWith(coloursPrefix) || path.startsWith(themeAssetsPath);

function findThemeAsset(path: string, theme: SiteTheme, settings: Settings): SiteFile | undefined {
  if (path.startsWith(coloursPrefix)) {
    if (path !== toColoursUrl(theme)) return undefined;
    const file = formatColours(theme, settings['portal.accent_color']);
    return { file, type: 'text/css; charset=utf-8', isImmutable: true };
  }
  const [stamp = '', ...parts] = decodeURIComponent(path.slice(themeAssetsPath.length)).split('/');
  const asset = theme.readAsset(parts.join('/'));
  if (!asset) return undefined;
  return { file: asset.bytes, type: asset.mediaType, isImmutable: stamp === theme.stamp, policy: assetPolicy };
}

/** Output of a template that is a document of its own, not content of the frame of the site. */
const isWholeDocument = (text: string) => /^\s*<(!doctype|html)\b/i.test(text);

/** Page of a document: its text where the template of the theme is a whole document. */
export interface TemplatedPage {
  readonly page: SiteDocument | string;
  /** Why the template of the theme is not used. */
  readonly failure?: string;
}

/** Document with the template that the theme has for it. */
export function applyTemplate(document: SiteDocument, looks: SiteLooks, menus: SiteMenus, log: Log): TemplatedPage {
  const { template } = document;
  const render = template && looks.templates.get(template.name);
  if (!template || !render) return { page: document };
  try {
    const text = render(toTemplateData(document, template, looks, menus), document.main.toString());
    return { page: isWholeDocument(text) ? text : { ...document, main: trustMarkup(text) } };
  } catch (err) {
    if (!(err instanceof TemplateError)) throw err;
    const { themeName: theme } = looks;
    log.warn({ err, theme, template: template.name }, 'template of the theme failed, showing the own page');
    return { page: document, failure: `${template.name}: ${err.message}` };
  }
}

function toTemplateData({ title }: SiteDocument, template: PageTemplate, looks: SiteLooks, menus: SiteMenus) {
  const { name, logoUrl, iconUrl, styleUrls } = looks;
  const toLink = (link: SiteLink) => ({ Title: link.title, Path: link.path });
  const toItems = (items: readonly SiteMenuItem[] = []) =>
    items.map(it => ({ ...toLink(it), Children: it.children.map(toLink) }));
  const Menus = { Primary: toItems(menus.primary), Footer: toItems(menus.footer) };
  const Links = menus.links.map(toLink);
  const Site = { Name: name, Logo: logoUrl ?? '', Icon: iconUrl ?? '', Styles: styleUrls, Links, Menus };
  return { Title: title, Path: template.path, Blocks: template.blocks, Site };
}
