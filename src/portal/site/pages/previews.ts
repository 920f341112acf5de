import { renderSampleMail, requireMailName } from '../../mails/sample-mail.ts';
import { defaultThemeName } from '../../themes/schema.ts';
import {
  mailPreviewPath,
  type SiteFile,
  type SitePage,
  type SiteReply,
  type SiteRequest,
  type SiteServices,
  themePreviewPath,
} from '../page.ts';
import { formatSiteCookie, themePreviewCookieName } from '../visitor.ts';

/** Previews of the admin app, for administrators alone: the others find nothing. */

/** A mail is a document of its own: it runs no script, loads nothing, and only pages of the portal may frame it. */
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox";

/** Begins the preview of a theme; without a name ends it. */
async function respondTheme(request: SiteRequest, { portal }: SiteServices): Promise<SiteReply | undefined> {
  if (request.visitor.rights.kind !== 'administrator') return undefined;
  const name = request.form('theme');
  const isKnown = name === '' || name === defaultThemeName || (await portal.themes.find(name)) !== undefined;
  if (!isKnown) return undefined;
  const maxAge = name === '' ? 0 : undefined;
  return { redirect: '/', cookies: [formatSiteCookie(themePreviewCookieName, name, maxAge, request.isSecure)] };
}

/** HTML of a mail with sample data, from the templates of a form. */
async function respondMail({ form, visitor }: SiteRequest, services: SiteServices): Promise<SiteFile | undefined> {
  if (visitor.rights.kind !== 'administrator') return undefined;
  const name = requireMailName(form('mail'));
  const draft = { Subject: form('Subject'), Text: form('Text'), Html: form('Html') };
  const { html } = await renderSampleMail(name, draft, services);
  return { file: html, type: 'text/html; charset=utf-8', policy: mailPolicy };
}

export const previewPages: readonly SitePage[] = [
  { method: 'POST', path: themePreviewPath, access: 'user', respond: respondTheme },
  { method: 'POST', path: mailPreviewPath, access: 'user', respond: respondMail },
];
