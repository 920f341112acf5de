import { escapeMarkup } from '#base/escape-markup.ts';

/** The landing page, also where the web app answers at `/`. */
export const landingPath = '/pages/start';
export const landingAssets = { style: '/pages/landing.css', script: '/pages/landing.js' } as const;

/** Loads from this listener alone (Content Security Policy Level 3): no inline script, no inline style, no frame. */
const landingPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'none'; " +
  "frame-ancestors 'none'; base-uri 'none'";

export const landingHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': landingPolicy,
  'referrer-policy': 'no-referrer',
};

export interface LandingDocument {
  readonly title: string;
  /** HTML; its author escapes values. */
  readonly main: string;
  /** The page reloads itself after this time. */
  readonly refreshSeconds?: number;
}

const renderRefresh = (seconds: number | undefined) =>
  seconds === undefined ? '' : `<meta http-equiv="refresh" content="${seconds}">`;

/** A whole document in the look of the landing page. */
export const renderLandingLayout = ({ title, main, refreshSeconds }: LandingDocument): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">${renderRefresh(refreshSeconds)}<title>${escapeMarkup(title)} · Gatewright</title>
<link rel="stylesheet" href="${landingAssets.style}"><script type="module" src="${landingAssets.script}"></script></head>
<body><a class="skip" href="#content">Skip to content</a>
<header><a class="home" href="/">Gatewright</a><nav aria-label="Pages"><a href="/docs">Reference</a>
<a href="/openapi.json">openapi.json</a></nav></header>
<main id="content"><h1>${escapeMarkup(title)}</h1>${main}</main></body></html>
`;
