import { z } from 'zod';
import { freeForm } from '#base/members.ts';
import { zipProblem } from '#base/zip.ts';
import { writeZip } from '#base/zip-writer.ts';
import { TemplateError } from '#languages/go-template/error.ts';
import { operation } from '#operations/operation.ts';
import { fileResponse, uploadedFile } from '../files/shapes.ts';
import { checkTemplate, defaultTemplates } from '../pages/templates.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { okMessage, okMessageResponse, okResponse, okStatus, textUpTo } from '../shapes.ts';
import { openSiteTheme } from './active-theme.ts';
import { checkThemeArchive } from './archive.ts';
import {
  defaultThemeName,
  PortalTheme,
  type StoredTheme,
  type ThemeManifest,
  toDefaultThemeView,
  toThemeView,
} from './schema.ts';
import { createStarterFiles } from './theme-tool.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

const declared = { surface: 'portal', noun: 'themes', permission: 'secret' } as const;
const params = z.object({ theme_id: z.string().max(100).describe('Name in the manifest') });
const isDefault = (name: string) => name.toLowerCase() === defaultThemeName;

export const listThemes = operation({
  ...declared,
  name: 'listThemes',
  method: 'GET',
  path: '/portal-api/themes',
  about: 'Lists the themes of the portal, the default one first.',
  returns: z.array(PortalTheme),
  async handle(_call, { portal }: Services) {
    const themes = await portal.themes.all();
    return [toDefaultThemeView(!themes.some(it => it.IsActive)), ...themes.map(toThemeView)];
  },
});

export const getTheme = operation({
  ...declared,
  name: 'getTheme',
  method: 'GET',
  path: '/portal-api/themes/{theme_id}',
  about: 'Returns a theme.',
  params,
  returns: PortalTheme,
  problems: [problem.not_found],
  async handle({ params: { theme_id } }, { portal }: Services) {
    if (isDefault(theme_id)) return toDefaultThemeView((await portal.themes.findActive()) === undefined);
    return toThemeView(present(await portal.themes.find(theme_id), 'Theme'));
  },
});

/** Pages whose template a theme does not have would lose it. */
async function refuseMissingTemplates({ templates }: Pick<ThemeManifest, 'templates'>, { portal }: Services) {
  const known = new Set([...defaultTemplates, ...templates.map(({ name }) => name)]);
  const names = (await portal.pages.all()).filter(page => !known.has(page.Template)).map(page => page.Template);
  if (names.length > 0) throw problem.theme_incomplete({ detail: { names: [...new Set(names)].join(', ') } });
}

export const uploadTheme = operation({
  ...declared,
  name: 'uploadTheme',
  method: 'POST',
  path: '/portal-api/themes/upload',
  about:
    'Stores a theme: a ZIP archive with theme.json, templates and assets, in place of the theme of the same name. ' +
    'Every file is checked before.',
  accepts: 'upload',
  isBulk: true,
  body: uploadedFile,
  returns: z.string(),
  produces: 'text/plain; charset=utf-8',
  problems: [
    zipProblem.malformed,
    zipProblem.too_large,
    problem.theme_refused,
    problem.too_many_themes,
    problem.theme_incomplete,
  ],
  async handle({ body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const { manifest } = checkThemeArchive(body.bytes);
    audit(manifest.name);
    await records.write(async () => {
      const saved = await portal.themes.save(manifest, body.bytes, clock.now());
      if (saved.IsActive) await refuseMissingTemplates(manifest, services);
    });
    return 'File uploaded successfully';
  },
});

export const activateTheme = operation({
  ...declared,
  name: 'activateTheme',
  method: 'PUT',
  path: '/portal-api/themes/{theme_id}/activate',
  about:
    'Makes a theme that of the site: its title, colours, logo, icon, styles and templates of pages; the name `default` ' +
    'makes the default one active.',
  params,
  returns: okMessageResponse,
  problems: [problem.unknown, problem.theme_incomplete],
  async handle({ params: { theme_id }, audit }, services: Services) {
    const { portal, records } = services;
    audit(theme_id);
    await records.write(async () => {
      const theme = isDefault(theme_id) ? undefined : present(await portal.themes.lock(theme_id), 'Theme', 'unknown');
      await refuseMissingTemplates(theme?.Manifest ?? { templates: [] }, services);
      await portal.themes.activate(theme?.ID);
    });
    return okMessage('activate');
  },
});

export const deleteTheme = operation({
  ...declared,
  name: 'deleteTheme',
  method: 'DELETE',
  path: '/portal-api/themes/{theme_id}',
  about: 'Deletes a theme that is neither active nor the default one.',
  params,
  returns: okResponse,
  problems: [problem.not_found, problem.theme_in_use],
  async handle({ params: { theme_id }, audit }, { portal, records }: Services) {
    audit(theme_id);
    await records.write(async () => {
      if (isDefault(theme_id)) throw problem.theme_in_use({ detail: { reason: 'is the default one' } });
      const theme = present(await portal.themes.lock(theme_id), 'Theme');
      if (theme.IsActive) throw problem.theme_in_use({ detail: { reason: 'is active' } });
      await portal.themes.remove(theme.ID);
    });
    return okStatus;
  },
});

const readArchive = async (theme: StoredTheme, { portal }: Services) =>
  present(await portal.themes.readArchive(theme), 'Theme');

export const downloadTheme = operation({
  ...declared,
  name: 'downloadTheme',
  method: 'GET',
  path: '/portal-api/themes/{theme_id}/download',
  about: 'Returns the archive of a theme as uploaded; of the default one, an archive to start a theme from.',
  params,
  returns: fileResponse,
  producesFile: ['application/zip'],
  problems: [problem.not_found],
  async handle({ params: { theme_id }, header }, services: Services) {
    if (isDefault(theme_id)) {
      header('content-disposition', `attachment; filename="${defaultThemeName}.zip"`);
      return { mediaType: 'application/zip', bytes: writeZip(createStarterFiles('my-theme')) };
    }
    const theme = present(await services.portal.themes.find(theme_id), 'Theme');
    header('content-disposition', `attachment; filename="${theme.Manifest.name}.zip"`);
    return readArchive(theme, services);
  },
});

const PreviewRequest = z.object({
  Template: z.string().max(64),
  Data: freeForm(z.object({})).optional().describe('Data that the template gets'),
  Content: textUpTo(1_000_000).optional().describe('HTML in place of the content of the page'),
});

export const previewTheme = operation({
  ...declared,
  name: 'previewTheme',
  method: 'POST',
  changesNothing: true,
  path: '/portal-api/themes/{theme_id}/preview',
  about: 'Renders a template of a theme that need not be active, with the given data.',
  params,
  body: PreviewRequest,
  example: { Template: 'home', Data: { Title: 'Welcome' }, Content: '<p>Content of the page</p>' },
  returns: z.object({ HTML: z.string() }),
  problems: [problem.unknown, problem.template_failed],
  async handle({ params: { theme_id }, body }, services: Services) {
    const theme = present(await services.portal.themes.find(theme_id), 'Theme', 'unknown');
    const { templates } = openSiteTheme(theme, await readArchive(theme, services));
    checkTemplate(body.Template, [...templates.keys()]);
    try {
      return { HTML: templates.get(body.Template)!(body.Data ?? {}, body.Content ?? '') };
    } catch (cause) {
      if (!(cause instanceof TemplateError)) throw cause;
      throw problem.template_failed({ detail: { reason: cause.message }, cause });
    }
  },
});

export const themeOperations = [
  listThemes,
  getTheme,
  uploadTheme,
  activateTheme,
  deleteTheme,
  downloadTheme,
  previewTheme,
];
