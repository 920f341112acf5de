import { closestMatch } from '#base/closest-match.ts';
import { escapeMarkup } from '#base/escape-markup.ts';
import { createPublicId } from '#base/ids.ts';
import { TemplateError } from '#languages/go-template/error.ts';
import type { Template, TemplatePartials } from '#languages/go-template/template.ts';
import { loadGoTemplate } from '#languages/lazy-languages.ts';
import { problem } from '../problems.ts';
import { manifestName, type ThemeManifest } from './schema.ts';

interface TemplateSource {
  readonly manifest: ThemeManifest;
  readonly files: ReadonlyMap<string, Buffer>;
}

/** Renders the page of a template; throws `TemplateError` where the data does not suit it, or its budget is spent. */
export type RenderPage = (data: unknown, content: string) => string;

/** Bounds of one page: a template that exceeds them fails, and the site shows its own page. */
const pageBounds = { maxSteps: 200_000, maxBytes: 4 * 1024 * 1024, maxDepth: 50 };

interface CompiledPage {
  readonly template: Template;
  /** Stands in the output for the inner page, which is not escaped again. */
  readonly token: string;
}

const partialFolder = 'partials/';
const toPartialName = (path: string) => path.slice(partialFolder.length, -'.html'.length);

/** Templates by the name in the manifest. Throws the first fault with its file. */
export function compileThemeTemplates(
  { manifest, files }: TemplateSource,
  toAssetAddress: (path: string) => string,
): Map<string, RenderPage> {
  const token = `content-${createPublicId()}`;
  const functions = {
    yield: () => token,
    content: () => token,
    asset: ([name]: readonly unknown[]) => toAssetAddress(String(name)),
  };
  const { compileTemplate, compilePartial } = loadGoTemplate();
  const readText = (path: string) => files.get(path)!.toString('utf8');
  const paths = [...files.keys()].filter(path => path.startsWith(partialFolder));
  const names = new Set(paths.map(toPartialName));
  const partials: TemplatePartials = new Map(
    paths.map(path => [
      toPartialName(path),
      nameFile(path, () => compilePartial(readText(path), names, { functions })),
    ]),
  );
  const compile = (path: string): CompiledPage => {
    const options = { functions, escape: escapeMarkup, partials };
    return { template: nameFile(path, () => compileTemplate(readText(path), options)), token };
  };
  for (const path of files.keys()) if (/^(views|layouts|mailers|auth)\//.test(path)) compile(path);
  return new Map(
    manifest.templates.map(({ name, template, layout }) => {
      const view = compile(requireTemplate('views', template, files));
      const frame = layout === undefined ? undefined : compile(requireTemplate('layouts', layout, files));
      const render: RenderPage = (data, content) => {
        const inner = renderAround(view, data, content);
        return frame ? renderAround(frame, data, inner) : inner;
      };
      return [name, render] as const;
    }),
  );
}

/** Names the file of a fault. */
function nameFile<Result>(path: string, compile: () => Result): Result {
  try {
    return compile();
  } catch (cause) {
    if (!(cause instanceof TemplateError)) throw cause;
    throw problem.theme_refused({ detail: { reason: `${path} ${cause.message}` }, cause });
  }
}

/** The inner page once: a loop around it would multiply its size without a charge to the budget. */
function renderAround({ template, token }: CompiledPage, data: unknown, inner: string): string {
  const [before, after, ...more] = template.render(data, pageBounds).split(token);
  if (more.length > 0) throw new TemplateError('the content of the page is there more than once');
  return after === undefined ? before! : before! + inner + after;
}

function requireTemplate(folder: string, name: string, files: ReadonlyMap<string, Buffer>): string {
  const path = `${folder}/${name.endsWith('.html') ? name : `${name}.html`}`;
  if (files.has(path)) return path;
  const nearest = closestMatch(
    path,
    [...files.keys()].filter(each => each.startsWith(`${folder}/`)),
  );
  const guess = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  const reason = `${manifestName} names ${path}, which the archive does not have${guess}`;
  throw problem.theme_refused({ detail: { reason } });
}
