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

/** Looks like the sign-in page of the dashboard: its tokens, centred, in both themes. */
const css = `:root{color-scheme:light dark;--ink:light-dark(oklch(23% .01 268),oklch(94% .004 268));
--dim:light-dark(oklch(45% .01 268),oklch(75% .008 268));--line:light-dark(oklch(90.5% .005 268),oklch(30% .008 268));
--edge:light-dark(oklch(62% .009 268),oklch(54% .01 268));--page:light-dark(oklch(98.2% .003 268),oklch(17% .006 268));
--card:light-dark(oklch(100% 0 0),oklch(20.5% .007 268));--act:light-dark(oklch(52% .19 268),oklch(55% .19 268));
--link:light-dark(oklch(47% .19 268),oklch(80% .1 268));--bad:light-dark(oklch(46% .18 27),oklch(80% .11 25))}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;font:14px/1.45 system-ui,sans-serif;color:var(--ink);
background:var(--page)}
main{width:100%;max-width:368px;padding:24px;background:var(--card);border:1px solid var(--line);border-radius:12px}
.product{margin:0 0 16px;font-weight:600}
h1{margin:0 0 16px;font-size:20px;font-weight:600;line-height:1.25}
p{margin:0 0 12px}
main>:last-child{margin-bottom:0}
a{color:var(--link);text-underline-offset:3px}
label{display:block;margin:16px 0 4px}
input{width:100%;min-height:34px;padding:4px 10px;font:inherit;color:inherit;background:var(--card);
border:1px solid var(--edge);border-radius:6px}
input[readonly]{color:var(--dim);background:var(--page)}
a:focus-visible,input:focus-visible,button:focus-visible{outline:2px solid var(--act);outline-offset:2px}
ul{margin:4px 0 0;padding-left:18px;color:var(--dim);font-size:12px}
.errors{margin:0 0 16px;padding:8px 12px;color:var(--bad);border:1px solid var(--bad);border-radius:6px}
.errors ul{color:inherit;font-size:14px;margin:0}
button{width:100%;min-height:34px;margin-top:16px;padding:4px 12px;font:inherit;font-weight:500;color:#fff;
background:var(--act);border:0;border-radius:6px;cursor:pointer}
@media (pointer:coarse){input,button{min-height:44px}}
@media (max-width:400px){body{place-items:start stretch}main{min-height:100vh;border:0;border-radius:0}}
`;
