import { escapeMarkup } from '#base/escape-markup.ts';
import type { AnyOperation } from '../operation.ts';
import { type SurfaceName, surfaces } from '../surfaces.ts';

export const docsPath = '/docs';
export const assetPaths = { style: '/docs/reference.css', script: '/docs/reference.js' } as const;

export const pathOfOperation = (name: string): string => `${docsPath}/${encodeURIComponent(name)}`;

export const renderMethod = ({ method }: Pick<AnyOperation, 'method'>): string =>
  `<span class="method ${method.toLowerCase()}">${method}</span>`;

export interface DocsPage {
  readonly title: string;
  readonly main: string;
  /** Text of the search field. */
  readonly query?: string;
  /** The operation whose group is open in the navigation. */
  readonly current?: AnyOperation;
}

/** A whole document: search, navigation over all operations, content. */
export function renderLayout(
  operations: readonly AnyOperation[],
  names: readonly SurfaceName[],
  page: DocsPage,
): string {
  const { title, main, query = '', current } = page;
  const navigation = names.map(name =>
    renderSurfaceLinks(
      name,
      operations.filter(it => it.surface === name),
      current,
    ),
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)} · Gatewright API</title><link rel="stylesheet" href="${assetPaths.style}">
<script type="module" src="${assetPaths.script}"></script></head>
<body><a class="skip" href="#content">Skip to content</a>
<header><a class="home" href="${docsPath}">Gatewright API</a>
<form role="search" action="${docsPath}" method="get"><input type="search" name="q" value="${escapeMarkup(query)}"
 aria-label="Search operations" placeholder="Search operations, parameters, members"></form>
<a href="/openapi.json">openapi.json</a></header>
<div class="columns"><nav aria-label="Operations">${navigation.join('')}</nav>
<main id="content">${main}</main></div></body></html>`;
}

function renderSurfaceLinks(name: SurfaceName, operations: readonly AnyOperation[], current?: AnyOperation): string {
  const groups = [...Map.groupBy(operations, it => it.noun)].map(([noun, list]) => {
    const isOpen = current?.surface === name && current.noun === noun;
    return `<details${isOpen ? ' open' : ''}><summary>${escapeMarkup(noun)}</summary><ul>${list
      .map(it => renderLink(it, it === current))
      .join('')}</ul></details>`;
  });
  return `<h2>${escapeMarkup(surfaces[name].title)}</h2>${groups.join('')}`;
}

function renderLink(it: AnyOperation, isCurrent: boolean): string {
  const mark = isCurrent ? ' aria-current="page"' : '';
  return `<li><a href="${pathOfOperation(it.name)}"${mark}>${renderMethod(it)}${escapeMarkup(it.name)}</a></li>`;
}
