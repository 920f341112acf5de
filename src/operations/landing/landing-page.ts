import { escapeMarkup } from '#base/escape-markup.ts';
import type { HealthReport } from '#base/health.ts';
import type { SurfaceName } from '../surfaces.ts';
import { type ListenerUrls, renderFirstSteps } from './first-steps.ts';
import type { Guide } from './guides.ts';
import { renderLandingLayout } from './layout.ts';

export interface LandingPage {
  readonly surfaces: readonly SurfaceName[];
  readonly urls: ListenerUrls;
  readonly health: HealthReport;
  readonly guides: ReadonlyMap<string, Guide>;
}

const listenerTexts = {
  dashboard: {
    title: 'Dashboard',
    about:
      'Management of APIs, keys, policies and users. The web app is at / once it is built; this page lists what else the listener serves.',
  },
  portal: {
    title: 'Developer portal',
    about:
      'Products, plans, catalogues and access requests. The site for developers is at /; this page lists what else the listener serves.',
  },
  control: { title: 'Gateway control', about: 'Control interface of one gateway: APIs, keys, policies and reloads.' },
} as const;

/** Start guides of each listener, in order; those that the installation does not have are left out. */
const startGuides = {
  dashboard: ['management', 'importing', 'sign-in', 'users', 'configuration-as-code', 'deploying', 'README'],
  portal: ['portal', 'webhooks', 'management', 'deploying', 'README'],
  control: ['gateway-only', 'explain', 'deploying', 'README'],
} as const;

const guideTitles: Readonly<Record<string, string>> = { README: 'All guides' };

const toListenerName = (surfaces: readonly SurfaceName[]) =>
  surfaces.includes('dashboard') ? 'dashboard' : surfaces.includes('portal') ? 'portal' : 'control';

export function renderLandingPage({ surfaces, urls, health, guides }: LandingPage): string {
  const name = toListenerName(surfaces);
  const { title, about } = listenerTexts[name];
  const main = [
    `<p class="lead">${escapeMarkup(about)}</p>`,
    `<div class="cards">${renderHealth(health)}${name === 'dashboard' ? session : ''}</div>`,
    renderPlaces(name, urls),
    renderFirstSteps(name, urls),
    renderGuides(startGuides[name].flatMap(it => guides.get(it) ?? [])),
  ];
  return renderLandingLayout({ title, main: main.join('\n') });
}

/** Filled by the script of the page: only requests below `/api` carry the session cookie. */
const session =
  '<section aria-labelledby="session-title"><h2 id="session-title">Sign-in</h2>' +
  '<p id="session" role="status">The session is displayed by the script of this page.</p>' +
  '<p class="small"><a href="/docs/signIn">Sign in</a> · <a href="/docs/signOut">Sign out</a></p></section>';

const healthTexts = {
  pass: 'Every component works.',
  warn: 'A component fails; the others work.',
  fail: 'The components of this process fail.',
} as const;

function renderHealth({ status, version, details }: HealthReport): string {
  const parts = Object.entries(details).map(
    ([name, { status: state, output }]) =>
      `<li><span class="mark ${state}">${state}</span> ${escapeMarkup(name)}${output ? `: ${escapeMarkup(output)}` : ''}</li>`,
  );
  return (
    '<section aria-labelledby="health-title"><h2 id="health-title">Health</h2>' +
    `<p><span class="mark ${status}">${status}</span> ${healthTexts[status]}</p><ul class="plain">${parts.join('')}</ul>` +
    `<p class="small">Version ${escapeMarkup(version)} · <a href="/hello">/hello</a> · <a href="/ready">/ready</a></p>` +
    '</section>'
  );
}

function renderPlaces(own: keyof typeof listenerTexts, urls: ListenerUrls): string {
  const rows = [
    ['/docs', 'Reference: a page with a form for every operation'],
    ['/openapi.json', 'OpenAPI document of this listener, for generated clients'],
    ['/hello', 'Health of each component; /live and /ready for orchestrators'],
    ...(own === 'portal' ? [] : [['/metrics', 'Prometheus metrics; needs a credential']]),
  ].map(([path, about]) => renderPlace(path!, path!, about!));
  const others = linkedListeners[own].flatMap(name => {
    const url = urls[name];
    return url === undefined ? [] : [renderPlace(url, url, otherTexts[name])];
  });
  return `<h2>Addresses</h2><dl class="places">${[...rows, ...others].join('')}</dl>`;
}

/** The portal may face the internet: it does not reveal where the dashboard is. */
const linkedListeners = {
  dashboard: ['portal', 'gateway'],
  portal: ['gateway'],
  control: ['gateway'],
} as const;

const otherTexts = { portal: 'Developer portal', gateway: 'API traffic' } as const;

const renderPlace = (href: string, text: string, about: string) =>
  `<div><dt><a href="${escapeMarkup(href)}">${escapeMarkup(text)}</a></dt><dd>${escapeMarkup(about)}</dd></div>`;

function renderGuides(guides: readonly Guide[]): string {
  if (guides.length === 0) return '';
  const items = guides.map(
    ({ name, title }) => `<li><a href="/guides/${name}">${escapeMarkup(guideTitles[name] ?? title)}</a></li>`,
  );
  return `<h2>Guides</h2><ul>${items.join('')}</ul>`;
}
