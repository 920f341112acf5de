import type { Log } from '#base/log.ts';
import { TemplateError } from '#languages/go-template/error.ts';
import { createThemeReader, defaultTheme, type SiteTheme, themeAssetsPath } from '../themes/active-theme.ts';
import type { ThemeColours } from '../themes/schema.ts';
import { assetFolder, formatAccent, readTokens } from './assets.ts';
import { trustMarkup } from './markup.ts';
import type { SiteDocument, SiteFile, SiteLink, SiteServices } from './page.ts';

/** Looks of every page, by the active theme. */
export interface SiteLooks {
  readonly name: string;
  readonly iconUrl: string | undefined;
  readonly logoUrl: string | undefined;
  /** Sheets behind that of the site: colours of the theme, then its styles. */
  readonly styleUrls: readonly string[];
  readonly templates: SiteTheme['templates'];
  readonly themeName: string;
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
  const toLooks = (theme: SiteTheme): SiteLooks => ({
    name: theme.title || settings['portal.name'],
    iconUrl: theme.icon,
    logoUrl: theme.logo,
    styleUrls: [...(hasColours(theme) ? [toColoursUrl(theme)] : []), ...theme.styles],
    templates: theme.templates,
    themeName: theme.name,
  });

  return {
    read: async () => toLooks(await readTheme()),
    /** Without the database: for the page of a failure. */
    ofDefaultTheme: toLooks(defaultTheme),

    /** A file of the active theme. Its address has the stamp of an upload: that of another one is not stored by caches. */
    async findAsset(path: string): Promise<SiteFile | undefined> {
      if (path.startsWith(`${assetFolder}/colours-`)) {
        const theme = await readTheme();
        if (path !== toColoursUrl(theme)) return undefined;
        const file = formatColours(theme, settings['portal.accent_color']);
        return { file, type: 'text/css; charset=utf-8', isImmutable: true };
      }
      if (!path.startsWith(themeAssetsPath)) return undefined;
      const [stamp = '', ...parts] = decodeURIComponent(path.slice(themeAssetsPath.length)).split('/');
      const theme = await readTheme();
      const asset = theme.readAsset(parts.join('/'));
      if (!asset) return undefined;
      const isImmutable = stamp === theme.stamp;
      return { file: asset.bytes, type: asset.mediaType, isImmutable, policy: assetPolicy };
    },
  };
}

/** Output of a template that is a document of its own, not content of the frame of the site. */
const isWholeDocument = (text: string) => /^\s*<(!doctype|html)\b/i.test(text);

/** Document with the template that the theme has for it: its content, or the text of a whole document. */
export function applyTemplate(
  document: SiteDocument,
  { name, logoUrl, iconUrl, styleUrls, templates, themeName }: SiteLooks,
  links: readonly SiteLink[],
  log: Log,
): SiteDocument | string {
  const { template, title } = document;
  const render = template && templates.get(template.name);
  if (!template || !render) return document;
  const { path: Path, blocks: Blocks } = template;
  const Links = links.map(link => ({ Title: link.title, Path: link.path }));
  const Site = { Name: name, Logo: logoUrl ?? '', Icon: iconUrl ?? '', Styles: styleUrls, Links };
  try {
    const text = render({ Title: title, Path, Blocks, Site }, document.main.toString());
    return isWholeDocument(text) ? text : { ...document, main: trustMarkup(text) };
  } catch (err) {
    if (!(err instanceof TemplateError)) throw err;
    log.warn({ err, theme: themeName, template: template.name }, 'template of the theme failed, showing the own page');
    return document;
  }
}
