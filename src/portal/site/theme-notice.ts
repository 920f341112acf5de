import { renderCsrfField } from './layout.ts';
import { html, type Markup } from './markup.ts';
import { type SiteVisitor, themePreviewPath } from './page.ts';
import type { SiteLooks } from './site-looks.ts';

/** Preview of a theme, or a template that failed: what administrators see above the page, and no other visitor. */
export function renderThemeNotice(
  { themeName, isPreview }: SiteLooks,
  { rights, csrfToken }: SiteVisitor,
  failure: string | undefined,
): Markup | '' {
  if (rights.kind !== 'administrator' || (!isPreview && failure === undefined)) return '';
  return html`<aside class="theme-notice" aria-label="Theme"><div class="bar">${
    isPreview ? html`<span>Preview of the theme ${themeName}: only you see it.</span>` : ''
  }${
    failure === undefined
      ? ''
      : html`<span>The theme ${themeName} failed at the template ${failure}. The default page is shown.</span>`
  }${
    isPreview
      ? html`<form method="post" action="${themePreviewPath}">${renderCsrfField(csrfToken)}
<button class="secondary">Quit preview</button></form>`
      : ''
  }</div></aside>`;
}

/** Puts a notice at the beginning of the body of a whole document. */
export const insertNotice = (page: string, notice: Markup | ''): string =>
  notice === '' ? page : page.replace(/<body\b[^>]*>/i, tag => tag + notice.toString());
