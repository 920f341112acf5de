import { escapeMarkup } from '#base/escape-markup.ts';
import { TemplateError } from '#languages/go-template/error.ts';
import { loadGoTemplate } from '#languages/lazy-languages.ts';
import type { MailName } from './mail-table.ts';
import { findMailKind } from './mail-table.ts';
import type { MailTemplates, RenderedMail } from './schema.ts';

/** Bounds of one part of a mail. */
const mailBounds = { maxSteps: 20_000, maxBytes: 256 * 1024, maxDepth: 20 };
const maxSubjectLength = 200;

export interface MailSite {
  readonly name: string;
  readonly url: string;
  /** Address of the logo of the theme; empty without one. */
  readonly logo: string;
  readonly support: string;
}

export interface MailData extends Readonly<Record<string, unknown>> {
  readonly site: MailSite;
  readonly user: { readonly First: string; readonly Last: string; readonly Email: string };
}

/** Templates of a mail in a theme. */
export interface ThemeMail {
  readonly html: string | undefined;
  readonly text: string | undefined;
}

/** Renders a mail from its own templates, else those of the theme, else the default ones. Throws `TemplateError`. */
export function renderMail(
  name: MailName,
  own: Partial<MailTemplates>,
  theme: ThemeMail,
  data: MailData,
): RenderedMail {
  const kind = findMailKind(name)!;
  const text = renderPart(own.Text || theme.text || kind.text, data);
  const html = own.Html || (own.Text ? undefined : theme.html);
  return {
    subject: toSubject(renderPart(own.Subject || kind.subject, data)),
    text: `${text.trim()}\n\n${data.site.name}\n${data.site.url}\n${data.site.support ? `${data.site.support}\n` : ''}`,
    html: html ? renderPart(html, data, escapeMarkup) : frameText(text, data.site),
  };
}

function renderPart(source: string, data: MailData, escaping?: (text: string) => string): string {
  const template = loadGoTemplate().compileTemplate(source, escaping ? { escape: escaping } : {});
  // A template may change its data, which the other parts use too.
  return template.render(template.mutatesData ? structuredClone(data) : data, mailBounds);
}

/** One line: values of users must not add header fields (RFC 5322, section 2.2). */
const toSubject = (text: string) =>
  text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, maxSubjectLength);

const cell = 'font:16px/1.5 system-ui,sans-serif;color:#1c1c28;max-width:36em;margin:0 auto;padding:24px';
const button =
  'display:inline-block;padding:10px 18px;border-radius:6px;background:#3f3fc8;color:#fff;text-decoration:none';

/**
 * Text as HTML. Only lines that are links to the portal itself become links: names and notes of users are in the text,
 * and must not lead elsewhere.
 */
function frameText(text: string, site: MailSite): string {
  const paragraphs = text.trim().split(/\n{2,}/);
  const body = paragraphs.map(it => {
    const isLink = it.startsWith(`${site.url}/`) && !/\s/.test(it);
    const shown = escapeMarkup(it);
    return isLink
      ? `<p><a href="${shown}" style="${button}">Open</a></p><p style="font-size:13px;word-break:break-all">${shown}</p>`
      : `<p>${shown.replaceAll('\n', '<br>')}</p>`;
  });
  const logo = site.logo ? `<img src="${escapeMarkup(site.logo)}" alt="" height="32"> ` : '';
  const support = site.support ? `<br>${escapeMarkup(site.support)}` : '';
  return `<!doctype html><html><body style="margin:0;background:#fff"><div style="${cell}">
<p>${logo}<strong>${escapeMarkup(site.name)}</strong></p>
${body.join('\n')}
<p style="font-size:13px;color:#5c5c6b">${escapeMarkup(site.url)}${support}</p></div></body></html>`;
}

/** Message of a fault of a template; anything else is thrown on. */
export function describeTemplateFault(error: unknown): string {
  if (error instanceof TemplateError) return error.message;
  throw error;
}
