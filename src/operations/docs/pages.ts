import { escapeMarkup } from '#base/escape-markup.ts';
import type { AnyOperation } from '../operation.ts';
import { type SurfaceName, surfaces } from '../surfaces.ts';
import { pathOfOperation, renderLayout, renderMethod } from './layout.ts';
import { collectSearchText, renderOperation } from './operation-page.ts';

/** HTML reference of the operations that a listener serves. */
export interface ReferencePages {
  /** All operations by surface, or those that contain every word of the query. */
  renderIndex(query: string): string;
  /** Undefined for a name that the listener does not serve. */
  renderOperation(name: string): string | undefined;
}

const maxQueryChars = 200;

export function createReferencePages(
  operations: readonly AnyOperation[],
  names: readonly SurfaceName[],
): ReferencePages {
  const served = operations.filter(it => names.includes(it.surface));
  const byName = new Map(served.map(it => [it.name, it]));
  /** Content by name: schemas are costly to render, and anyone can request a page. */
  const contents = new Map<string, string>();
  /** Collected at the first search: it renders the schemas of all operations. */
  let searchTexts: Map<AnyOperation, string> | undefined;

  const search = (query: string): AnyOperation[] => {
    searchTexts ??= new Map(served.map(it => [it, collectSearchText(it)]));
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [...searchTexts].filter(([, text]) => words.every(word => text.includes(word))).map(([it]) => it);
    return found.sort((a, b) => rank(a, words) - rank(b, words));
  };

  return {
    renderIndex(text) {
      const query = text.slice(0, maxQueryChars).trim();
      const main = query ? renderFound(query, search(query)) : renderOverview(served, names);
      return renderLayout(served, names, { title: query ? `Search: ${query}` : 'Reference', main, query });
    },
    renderOperation(name) {
      const current = byName.get(name);
      if (!current) return undefined;
      const main = contents.get(name) ?? renderOperation(current);
      contents.set(name, main);
      return renderLayout(served, names, { title: name, main, current });
    },
  };
}

/** Matches in name or path come before those in members and texts. */
const rank = ({ name, path }: AnyOperation, words: readonly string[]) =>
  words.every(word => `${name} ${path}`.toLowerCase().includes(word)) ? 0 : 1;

function renderFound(query: string, found: readonly AnyOperation[]): string {
  const count = found.length === 1 ? '1 operation' : `${found.length || 'No'} operations`;
  return `<h1>${count} for “${escapeMarkup(query)}”</h1>${renderList(found)}`;
}

function renderOverview(served: readonly AnyOperation[], names: readonly SurfaceName[]): string {
  const parts = names.map(name => {
    const { title, about, credentialHeader } = surfaces[name];
    const own = served.filter(it => it.surface === name);
    const groups = [...Map.groupBy(own, it => it.noun)].map(
      ([noun, list]) => `<h3>${escapeMarkup(noun)}</h3>${renderList(list)}`,
    );
    const credential = `Credential in the header <code>${credentialHeader}</code>.`;
    return `<h2>${escapeMarkup(title)}</h2><p>${escapeMarkup(about)} ${credential}</p>${groups.join('')}`;
  });
  const intro = `${served.length} operations. Each page has the parameters, the members of the body, an example, the
responses, and a form that sends the request. Press <kbd>/</kbd> to search.`;
  return `<h1>Gatewright API</h1><p>${intro}</p>${parts.join('')}`;
}

function renderList(list: readonly AnyOperation[]): string {
  const items = list.map(it => {
    const link = `<a href="${pathOfOperation(it.name)}">${renderMethod(it)}<code>${escapeMarkup(it.path)}</code></a>`;
    return `<li>${link}<p>${escapeMarkup(it.about)}</p></li>`;
  });
  return `<ul class="operations">${items.join('')}</ul>`;
}
