import { z } from 'zod';
import { nonEmptyText, textUpTo } from '../shapes.ts';

/** Theme: a ZIP archive with a manifest, templates, styles and images. */
export const defaultThemeName = 'default';
export const manifestName = 'theme.json';

export const themeBounds = {
  maxThemes: 20,
  maxFiles: 500,
  maxFileBytes: 5 * 1024 * 1024,
  maxTotalBytes: 32 * 1024 * 1024,
} as const;

const themeName = z
  .string()
  .regex(/^[A-Za-z0-9][\w-]{0,63}$/, 'must be 1 to 64 letters, digits, "_" and "-"')
  .refine(name => name.toLowerCase() !== defaultThemeName, 'the default theme cannot be replaced: choose another name');
const fileName = z.string().regex(/^[\w-]+(\.html)?$/, 'must be the name of a file, with or without .html');
const colour = z.string().regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as #0a7c5c');
const assetPath = z.string().regex(/^assets\/[^\s?#%\\]+$/, 'must be the path of a file below assets/');

const ThemeTemplate = z.object({
  name: z.string().regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" and "-"'),
  template: fileName,
  layout: fileName.optional(),
});

const colours = z.object({
  accent: colour.optional(),
  background: colour.optional(),
  surface: colour.optional(),
  text: colour.optional(),
  muted: colour.optional(),
  link: colour.optional(),
  border: colour.optional(),
});
export type ThemeColours = z.output<typeof colours>;

export const ThemeManifest = z.object({
  name: themeName,
  version: nonEmptyText(64),
  author: textUpTo(200).default(''),
  /** Language of the templates. */
  language: z.literal('go-template').default('go-template'),
  templates: z.array(ThemeTemplate).max(100).default([]),
  title: textUpTo(100).optional(),
  colours: colours.default({}),
  /** Colours where the visitor prefers a dark page. */
  dark_colours: colours.default({}),
  logo: assetPath.optional(),
  icon: assetPath.optional(),
  styles: z.array(assetPath).max(20).default([]),
});
export type ThemeManifest = z.output<typeof ThemeManifest>;

export interface StoredTheme {
  ID: number;
  Manifest: ThemeManifest;
  IsActive: boolean;
  /** Number of uploads: part of what identifies its contents. */
  Revision: number;
  CreatedAt: number;
  UpdatedAt: number;
}

export const PortalTheme = z.object({
  ID: z.string().describe('Name in the manifest'),
  Name: z.string(),
  Author: z.string(),
  Version: z.string(),
  Path: z.string(),
  Status: z.enum(['Current', 'Not in use']),
});

const toStatus = (isActive: boolean) => (isActive ? 'Current' : 'Not in use');
const toPath = (name: string) => `/portal-api/themes/${name}/download`;

export const toThemeView = ({
  Manifest: { name, author, version },
  IsActive,
}: StoredTheme): z.output<typeof PortalTheme> => ({
  ID: name,
  Name: name,
  Author: author,
  Version: version,
  Path: toPath(name),
  Status: toStatus(IsActive),
});

/** The theme of the product itself: its pages without changes. */
export const toDefaultThemeView = (isActive: boolean): z.output<typeof PortalTheme> => ({
  ID: defaultThemeName,
  Name: defaultThemeName,
  Author: 'Gatewright',
  Version: '1.0.0',
  Path: toPath(defaultThemeName),
  Status: toStatus(isActive),
});
