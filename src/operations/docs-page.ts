import { escapeMarkup } from '#base/escape-markup.ts';
import type { AnyOperation } from './operation.ts';
import { type SurfaceName, surfaces } from './surfaces.ts';

const css = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2430}
h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid #d5dbe3}
h3{margin-bottom:.2rem;color:#56606e;text-transform:capitalize}
article{margin:1rem 0;padding:.8rem 1rem;border:1px solid #d5dbe3;border-radius:8px}
code{font:14px ui-monospace,monospace;background:#f2f4f7;padding:.1rem .3rem;border-radius:4px}
.method{font-weight:700;margin-right:.5rem}.small{color:#56606e;font-size:.9rem;margin:.2rem 0}`;

/** HTML reference: every operation of the listener, by surface and noun. */
export function renderDocsPage(
  operations: readonly AnyOperation[],
  names: readonly SurfaceName[],
): { html: string; css: string } {
  const parts = names.map(name =>
    renderSurface(
      name,
      operations.filter(it => it.surface === name),
    ),
  );
  const head =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Gatewright API</title>' +
    '<link rel="stylesheet" href="/docs.css"></head>';
  const intro = '<h1>Gatewright API</h1><p>Machine-readable: <a href="/openapi.json">openapi.json</a></p>';
  return { html: `${head}<body>${intro}${parts.join('')}</body></html>`, css };
}

function renderSurface(name: SurfaceName, operations: readonly AnyOperation[]): string {
  const { title, about, credentialHeader } = surfaces[name];
  const nouns = Map.groupBy(operations, it => it.noun);
  const body = [...nouns].map(([noun, list]) => `<h3>${escapeMarkup(noun)}</h3>${list.map(renderOperation).join('')}`);
  const credential = `Credential in the header <code>${credentialHeader}</code>.`;
  return `<h2>${escapeMarkup(title)}</h2><p>${escapeMarkup(about)} ${credential}</p>${body.join('')}`;
}

function renderOperation(it: AnyOperation): string {
  const failures = (it.problems ?? []).map(
    ({ status, message }) => `<p class="small">${status}: ${escapeMarkup(message)}</p>`,
  );
  return `<article id="${escapeMarkup(it.name)}"><span class="method">${it.method}</span><code>${escapeMarkup(it.path)}</code>
<p>${escapeMarkup(it.about)}</p><p class="small">Permission: ${escapeMarkup(it.permission)}</p>${failures.join('')}</article>`;
}
