import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { escapeMarkup } from '#base/escape-markup.ts';
import type { Log } from '#base/log.ts';
import { parseMediaType } from '#base/media-type.ts';
import type { Actor } from './actor.ts';
import type { WriteAudit } from './audit.ts';
import { problem } from './problems.ts';
import { renderProblem } from './render.ts';
import { surfaces } from './surfaces.ts';

/** Server-rendered page of a management listener, outside of the surfaces. It works without JavaScript. */
export interface HtmlPage<Services = never> {
  /** Action of the audit record of a form. */
  readonly name: string;
  readonly path: string;
  show(fields: PageFields, services: Services): Promise<PageContent>;
  submit(fields: PageFields, services: Services, identify: (actor: Actor) => void): Promise<PageContent>;
}

/** Query of a page, or fields of its form. An absent or repeated field is empty. */
export type PageFields = (name: string) => string;

export interface PageContent {
  readonly status: number;
  readonly title: string;
  /** HTML; its author escapes values. */
  readonly main: string;
}

export interface PagesOptions {
  readonly pages: readonly HtmlPage[];
  readonly services: unknown;
  readonly writeAudit: WriteAudit;
  readonly log: Log;
}

const formType = 'application/x-www-form-urlencoded';
const maxFormBytes = 65_536;
/** Beside the page: links are relative, so that a proxy may serve the dashboard below a path. */
const stylesheet = 'page.css';
/** No script, no image, no frame; forms go to this origin only (Content Security Policy Level 3). */
const pagePolicy = "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

export function addPageRoutes(app: FastifyInstance, options: PagesOptions): void {
  const folders = new Set(options.pages.map(({ path }) => path.slice(0, path.lastIndexOf('/'))));
  for (const folder of folders)
    app.get(`${folder}/${stylesheet}`, async (_request, reply) => reply.type('text/css; charset=utf-8').send(css));
  for (const page of options.pages) addPage(app, page, options);
}

function addPage(app: FastifyInstance, page: HtmlPage, { services, writeAudit, log }: PagesOptions): void {
  const respond = async (reply: FastifyReply, work: () => Promise<PageContent>): Promise<PageContent> => {
    const content = await work().catch((error: unknown) => renderError(error, reply, log));
    reply
      .code(content.status)
      .type('text/html; charset=utf-8')
      .header('content-security-policy', pagePolicy)
      // The address may have a token.
      .header('referrer-policy', 'no-referrer');
    return content;
  };
  const errorHandler = async (error: unknown, _request: FastifyRequest, reply: FastifyReply) =>
    reply.send(renderPage(await respond(reply, () => Promise.reject(error))));

  app.get(page.path, { errorHandler }, async (request, reply) => {
    const query = new URLSearchParams(request.url.split('?')[1] ?? '');
    return renderPage(await respond(reply, () => page.show(createFields(query), services as never)));
  });
  app.post(page.path, { errorHandler, bodyLimit: maxFormBytes }, async (request, reply) => {
    let actor: Actor | undefined;
    const identify = (identified: Actor) => {
      actor = identified;
    };
    const content = await respond(reply, () => page.submit(readForm(request), services as never, identify));
    if (actor)
      await writeAudit({
        actor,
        orgId: actor.orgId,
        action: page.name,
        method: 'POST',
        url: page.path,
        status: content.status,
        ip: request.ip,
        object: actor.id,
      });
    return renderPage(content);
  });
}

const createFields =
  (values: URLSearchParams): PageFields =>
  name => {
    const found = values.getAll(name);
    return found.length === 1 ? found[0]! : '';
  };

function readForm(request: FastifyRequest): PageFields {
  if (parseMediaType(request.headers['content-type']) !== formType)
    throw problem.wrong_type({ detail: { accepted: formType } });
  return createFields(new URLSearchParams(((request.body as Buffer | undefined) ?? '').toString()));
}

function renderError(error: unknown, reply: FastifyReply, log: Log): PageContent {
  const { status, body, headers } = renderProblem(error, surfaces.dashboard, log);
  reply.headers(headers);
  const { Message: message } = body as { Message: string };
  return { status, title: 'Request failed', main: `<p>${escapeMarkup(message)}</p>` };
}

const renderPage = ({ title, main }: PageContent): string =>
  '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
  '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">' +
  `<title>${escapeMarkup(title)} · Gatewright</title><link rel="stylesheet" href="${stylesheet}"></head>` +
  `<body><main><p class="product">Gatewright</p><h1>${escapeMarkup(title)}</h1>${main}</main></body></html>`;

const css = `:root{color-scheme:light dark;--ink:#1c2430;--dim:#56606e;--line:#c3cad4;--page:#f5f6f8;--card:#fff;
--act:#1d4fd7;--bad:#b42318}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--dim:#a0a9b6;--line:#434c59;--page:#12161c;--card:#1b2129;
--act:#7ea2ff;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
main{max-width:26rem;margin:4rem auto;padding:2rem;background:var(--card);border:1px solid var(--line);
border-radius:10px}
.product{margin:0 0 1rem;color:var(--dim);font-weight:600}
h1{margin:0 0 1rem;font-size:1.4rem;line-height:1.25}
label{display:block;margin:1rem 0 .25rem;font-weight:600}
input{width:100%;padding:.55rem .7rem;font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);
border-radius:6px}
input[readonly]{color:var(--dim);background:var(--page)}
input:focus-visible,button:focus-visible{outline:2px solid var(--act);outline-offset:2px}
ul{margin:.5rem 0 0;padding-left:1.2rem;color:var(--dim);font-size:.9rem}
.errors{margin:0 0 1rem;padding:.7rem 1rem;color:var(--bad);border:1px solid var(--bad);border-radius:6px}
.errors ul{color:inherit;font-size:1rem;margin:0}
button{width:100%;margin-top:1.5rem;padding:.65rem;font:inherit;font-weight:600;color:var(--card);
background:var(--act);border:0;border-radius:6px;cursor:pointer}
@media (max-width:30rem){main{margin:0;border:0;border-radius:0;min-height:100vh}}
`;
