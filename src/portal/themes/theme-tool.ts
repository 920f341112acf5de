import { writeZip } from '#base/zip-writer.ts';
import { validate } from '#operations/validation-error.ts';
import { checkThemeArchive } from './archive.ts';
import { manifestName, ThemeManifest } from './schema.ts';

/** Files and checks for authors of themes, without a running portal. */

const style = `/* Follows the style sheet of the site. Colours are variables: var(--accent), var(--ink), var(--line). */
main h1 { letter-spacing: -0.02em; }
`;

const readme = `# A theme of the developer portal

- theme.json: name, title, colours, logo and the templates of pages
- assets/: styles, images and fonts
- views/, layouts/, partials/: templates

Check it with gw theme check, and pack it with gw theme pack.
`;

/** Files of a theme to start from: a colour and a style sheet. */
export function createStarterFiles(name: string): Map<string, Buffer> {
  const manifest = {
    name,
    version: '1.0.0',
    author: '',
    title: 'Developer portal',
    colours: { accent: '#0a7c5c' },
    styles: ['assets/theme.css'],
    templates: [],
  };
  validate(ThemeManifest, manifest);
  const texts = {
    [manifestName]: `${JSON.stringify(manifest, undefined, 2)}\n`,
    'assets/theme.css': style,
    'README.md': readme,
  };
  return new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)]));
}

/** The archive of a theme with these files, as an upload accepts it. */
export function packTheme(files: ReadonlyMap<string, Buffer>): Buffer {
  const archive = writeZip(files);
  checkThemeArchive(archive);
  return archive;
}
